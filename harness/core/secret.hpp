#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ucxbench {

// What is recorded of a command line and of an environment goes to others with the run file. So
// passwords and the like are left out of it.

/// Whether a variable of that name has a secret, by KEY, TOKEN, PASSWORD, SECRET, CREDENTIAL and
/// the like in it. The PKEY, RKEY, LKEY and MKEY of InfiniBand are none.
bool names_secret(std::string_view variable);

/// The same without the variables that name a secret, and without the user and the password of
/// URLs.
std::map<std::string, std::string> without_secrets(std::map<std::string, std::string> variables);

/// The same words, with "***" in the place of a secret: in "--token X", "--api-key=X", "NAME=X" of
/// a name as above, also within a word as "env NAME=X program", and in "https://user:password@".
/// "--token-file FILE" names a file, and "--tokens 8" a number.
std::vector<std::string> without_secrets(const std::vector<std::string>& words);

}  // namespace ucxbench
