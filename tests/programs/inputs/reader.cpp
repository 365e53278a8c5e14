// Reads files through C++ streams and the file system library, and fails.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>

int main(int argc, char **argv) {
    std::filesystem::path dir = argc > 1 ? argv[1] : ".";
    std::thread lister([&] {
        for (auto &entry : std::filesystem::directory_iterator(dir))
            std::cout << "entry " + entry.path().filename().string() + "\n" << std::flush;
    });
    lister.join();
    std::ifstream file(dir / "one");
    for (std::string line; std::getline(file, line);) std::cout << "read " << line << '\n';
    std::ifstream big(dir / "two", std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(big)), std::istreambuf_iterator<char>());
    std::cout << text.size() << " bytes, all x: " << std::all_of(text.begin(), text.end(), [](char c) { return c == 'x'; })
              << ", size " << std::filesystem::file_size(dir / "two") << '\n';
    return text.size() == 100000 ? 7 : 8;
}
