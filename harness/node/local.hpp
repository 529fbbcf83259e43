// The controller as a node: commands are its own children. Its session never goes.
//
// The one place that uses Boost.Process (v2).
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>

#include "node/node.hpp"

namespace unplug::node {

// Ignores SIGPIPE in this process: a child that closed its stdin must not end us.
std::unique_ptr<Node> make_local_node(asio::any_io_executor executor,
                                      std::string name = "controller");

}  // namespace unplug::node
