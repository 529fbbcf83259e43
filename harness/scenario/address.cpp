// Addresses and subnets; names of hosts are never resolved here.
#include <arpa/inet.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

#include "scenario/read.hpp"

namespace unplug::scenario {
namespace {

struct Address {
  std::array<std::uint8_t, 16> bytes{};
  int bits = 0;  // 32 or 128; 0 = none
};

Address parse_address(const std::string& text) {
  Address address;
  if (inet_pton(AF_INET, text.c_str(), address.bytes.data()) == 1) {
    address.bits = 32;
  } else if (inet_pton(AF_INET6, text.c_str(), address.bytes.data()) == 1) {
    address.bits = 128;
  }
  return address;
}

struct Network {
  Address address;
  int prefix = 0;
};

std::optional<Network> parse_network(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  Network network{parse_address(text.substr(0, slash)), -1};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + slash + 1, end, network.prefix);
  if (error != std::errc{} || stop != end || network.address.bits == 0) return std::nullopt;
  if (network.prefix < 0 || network.prefix > network.address.bits) return std::nullopt;
  return network;
}

bool bit(const Address& address, int i) {
  return ((address.bytes[static_cast<std::size_t>(i / 8)] >> (7 - i % 8)) & 1) != 0;
}

}  // namespace

bool is_address_with_prefix(const std::string& text) { return parse_network(text).has_value(); }

bool in_subnet(const std::string& address, const std::string& network) {
  const Address one = parse_address(address);
  const auto subnet = parse_network(network);
  if (!subnet || one.bits != subnet->address.bits) return false;
  for (int i = 0; i < subnet->prefix; ++i) {
    if (bit(one, i) != bit(subnet->address, i)) return false;
  }
  return true;
}

const LinkEnd* control_end(const Lab& lab, const std::string& node, const std::string& interface) {
  const LabNode* host = lab.node(node);
  if (host == nullptr) return nullptr;
  for (const Link& link : lab.links) {
    for (const LinkEnd* end : {&link.near, &link.far}) {
      if (end->node == node && end->interface == interface &&
          in_subnet(host->address, end->address)) {
        return end;
      }
    }
  }
  return nullptr;
}

}  // namespace unplug::scenario
