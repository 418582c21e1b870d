#pragma once

// Words for people from what a run file has.

#include <optional>
#include <string>
#include <vector>

#include "harness/core/literal.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// A share, as every output rounds it: "43 %", "<1 %" for less that is not 0.
std::string share_text(double share);

/// "-" for unknown; else at least `digits` significant digits without an exponent: 12.34, 0.01234,
/// and whole numbers above that: 123456.
std::string significant(const std::optional<double>& value, int digits);

/// Microseconds in the unit that fits: "850 ns", "12.3 us", "4.56 ms", "1.20 s".
std::string readable_us(double us);

/// The text at a JSON pointer, numbers and lists ("a+b") included; `otherwise` where there is none.
std::string text_at(const Json& json, const std::string& pointer,
                    const std::string& otherwise = "-");

/// The number under a name; empty where there is none, or no object.
std::optional<double> number_at(const Json& object, const char* name);

/// The elements of a list as text, or the one value as a list of one; nothing for null.
std::vector<std::string> texts_of(const Json& json);

std::string join(const std::vector<std::string>& parts, const std::string& separator);

/// "1 launch", "6 launches"; of a number, or of what a file has for one.
std::string counted(const std::string& count, const std::string& noun,
                    const std::string& plural = "");
std::string counted(std::size_t count, const std::string& noun, const std::string& plural = "");

/// Whether something of a run was measured, well or not.
bool has_figures(const Result& result);

/// Threads of a rank that send at the same time, by a case's parameters; 1 where they do not say.
int threads_in(const Json& parameters);

/// An element of `run.crowded`: "event (64 ranks on 2 CPUs)", "poll (2 ranks of 4 threads on 2
/// CPUs)".
std::string crowded_in_words(const Json& crowded);

}  // namespace ucxbench
