// Who we are: by a key file, or by a key that an ssh-agent holds. No passwords.
#pragma once

#include <memory>

#include "ssh/login.hpp"

namespace unplug::ssh {

// With an identity: by its file; when that is encrypted or absent, by the agent's key of the
// same public half. Without: by the agent's keys, at most five (sshd gives up at six).
asio::awaitable<LoginResult> authenticate(std::shared_ptr<Link> link, Login login,
                                          Deadline deadline);

}  // namespace unplug::ssh
