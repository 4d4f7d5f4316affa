#include "scheduler/books/books.h"

#include <algorithm>

namespace fairlead::scheduler::native {

bool Books::Lists(const std::vector<PlaceId>& list, NodeIndex node) const {
  return std::binary_search(list.begin(), list.end(), nodes[node].host) ||
         std::binary_search(list.begin(), list.end(), nodes[node].rack);
}

}  // namespace fairlead::scheduler::native
