// PMICD as its paper prints it (WAIM 2008, Figure 3), with the last run of every projection handed on as well: for every maximal itemset the
// transactions are projected on it as lists of items, sorted in lexicographic order, and scanned for runs of fewer than k equal ones.
//
//     pmicd TRANSACTIONS MAXIMAL K STEP new|kept
//
// Both files hold one list of ascending item numbers per line; every STEP-th maximal itemset is looked at. The paper makes a new projected database
// for each of them (new); with kept the lists of the one before are emptied and filled again, which saves the allocations. Prints how many sets
// were looked at, how many channels they have, the people in these channels, and the seconds of CPU of the search (reading excluded).

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

using Items = std::vector<int>;

static std::vector<Items> read(const char *path, int &most) {
    std::ifstream file(path);
    if (!file) {
        std::cerr << "pmicd: cannot read " << path << "\n";
        std::exit(2);
    }
    std::vector<Items> lists;
    std::string line;
    while (std::getline(file, line)) {
        std::istringstream words(line);
        Items items;
        for (int item; words >> item;) {
            items.push_back(item);
            most = std::max(most, item);
        }
        lists.push_back(items);
    }
    return lists;
}

int main(int argc, char **argv) {
    if (argc != 6) {
        std::cerr << "usage: pmicd TRANSACTIONS MAXIMAL K STEP new|kept\n";
        return 2;
    }
    int most = 0;
    const std::vector<Items> people = read(argv[1], most), maximal = read(argv[2], most);
    const long k = std::atol(argv[3]);
    const std::size_t step = std::max(1L, std::atol(argv[4]));
    const bool keep = std::string(argv[5]) == "kept";

    std::vector<Items> kept(people.size());
    std::vector<char> inside(most + 1, 0);
    long sets = 0, channels = 0, concerned = 0;
    const std::clock_t begun = std::clock();
    for (std::size_t m = 0; m < maximal.size(); m += step) {
        sets++;
        for (int item : maximal[m]) inside[item] = 1;
        std::vector<Items> made;
        if (!keep) made.resize(people.size());
        std::vector<Items> &projected = keep ? kept : made;
        for (std::size_t t = 0; t < people.size(); t++) {
            projected[t].clear();
            for (int item : people[t])
                if (inside[item]) projected[t].push_back(item);
        }
        for (int item : maximal[m]) inside[item] = 0;
        std::sort(projected.begin(), projected.end());
        long run = 0;
        for (std::size_t i = 0; i < projected.size(); i++) {
            run++;
            if (i + 1 == projected.size() || projected[i + 1] != projected[i]) {
                if (run < k) {
                    channels++;
                    concerned += run;
                }
                run = 0;
            }
        }
    }
    std::printf("%ld %ld %ld %.6f\n", sets, channels, concerned, double(std::clock() - begun) / CLOCKS_PER_SEC);
    return 0;
}
