// Asio's own functions, compiled once: BOOST_ASIO_SEPARATE_COMPILATION (CMakeLists.txt) keeps
// them out of every other file.
#include <boost/asio/impl/src.hpp>
