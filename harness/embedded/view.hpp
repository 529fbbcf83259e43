// The file tree as the lab's processes see it: the host's, read-only, with own places to write.
#pragma once

#include <string>
#include <vector>

namespace unplug::embedded {

struct View {
  std::string cwd;                    // where the command starts
  std::string program;                // folder of this program
  std::string source_root;            // injectors, targets, schemas; "" = none
  std::vector<std::string> writable;  // host folders that stay writable; they exist
  std::vector<std::string> visible;   // paths in kHidden that stay visible, read-only
};

// Looks at the host, before anything is hidden.
View plan_view(const std::vector<std::string>& command, const std::vector<std::string>& writable);

// In the lab's first process: a new root, from which the old one is gone.
void enter_view(const View& view);

// In a node's first process: everything read-only, with the node's own disks and kernel folders.
void enter_node_view(const View& view);

}  // namespace unplug::embedded
