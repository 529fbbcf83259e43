#include "ssh/blob.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <vector>

namespace unplug::ssh {
namespace {

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::optional<std::string> take_string(std::string_view& blob) {
  if (blob.size() < 4) return std::nullopt;
  std::size_t size = 0;
  for (int i = 0; i < 4; ++i) size = size << 8 | static_cast<unsigned char>(blob[i]);
  if (blob.size() - 4 < size) return std::nullopt;
  std::string text(blob.substr(4, size));
  blob.remove_prefix(4 + size);
  return text;
}

std::string first_string(std::string_view blob) { return take_string(blob).value_or(""); }

std::string from_base64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0) return {};
  std::vector<unsigned char> raw(text.size() / 4 * 3);
  const int size = EVP_DecodeBlock(raw.data(), bytes_of(text), static_cast<int>(text.size()));
  if (size < 0) return {};
  std::string bytes(raw.begin(), raw.begin() + size);
  // EVP_DecodeBlock counts the padding as bytes.
  for (std::size_t i = text.size(); i > text.size() - 2 && text[i - 1] == '='; --i)
    bytes.pop_back();
  return bytes;
}

std::string sha256_base64(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  std::array<unsigned char, std::size_t{2} * EVP_MAX_MD_SIZE> text{};
  const int length = EVP_EncodeBlock(text.data(), digest.data(), static_cast<int>(size));
  std::string base64(text.begin(), text.begin() + length);
  base64.erase(base64.find_last_not_of('=') + 1);
  return base64;
}

std::string hmac_sha1(const std::string& key, std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  HMAC(EVP_sha1(), key.data(), static_cast<int>(key.size()), bytes_of(bytes), bytes.size(),
       digest.data(), &size);
  return std::string(digest.begin(), digest.begin() + size);
}

}  // namespace unplug::ssh
