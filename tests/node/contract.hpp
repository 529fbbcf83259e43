// The contract of node::Node, one suite for every implementation (contract_test.cpp).
//
// A place makes a node, and can take its session away where there is one. The fake knows the
// suite's lines by heart (fake_place.cpp); what needs a real shell is skipped there.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "node/loop.hpp"
#include "node/node.hpp"
#include "scenario/lab.hpp"

namespace unplug::test {

using namespace std::chrono_literals;
using node::Outcome;
using End = node::Outcome::End;

class Place {
 public:
  virtual ~Place() = default;
  virtual std::unique_ptr<node::Node> make(Loop& loop) = 0;
  virtual bool has_a_shell() const { return true; }
  virtual bool can_lose() const { return true; }
  virtual void lose() {}  // the session, soon; it cannot come back by itself
  virtual void come_back() {}
};

// Null, with the reason, where this place cannot be had.
std::unique_ptr<Place> fake_place();
std::unique_ptr<Place> local_place();
std::unique_ptr<Place> ssh_place(scenario::SshBy by, std::string& why_not);

}  // namespace unplug::test
