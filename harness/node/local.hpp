// The controller as a node: commands are its own children. Its session never goes.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>

#include "node/node.hpp"

namespace unplug::node {

std::unique_ptr<Node> make_local_node(asio::any_io_executor executor,
                                      std::string name = "controller");

}  // namespace unplug::node
