// Arrow's C data interface (https://arrow.apache.org/docs/format/CDataInterface.html): tables that
// libraries hand to each other in memory, without a copy.
#pragma once

#include <cstdint>
#include <cstdlib>

extern "C" {

struct ArrowSchema {
    const char* format;
    const char* name;
    const char* metadata;
    int64_t flags;
    int64_t n_children;
    ArrowSchema** children;
    ArrowSchema* dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void** buffers;
    ArrowArray** children;
    ArrowArray* dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
    int (*get_next)(ArrowArrayStream*, ArrowArray*);
    const char* (*get_last_error)(ArrowArrayStream*);
    void (*release)(ArrowArrayStream*);
    void* private_data;
};

}

namespace epic {

constexpr int64_t kNullable = 2;

// Children of a schema or an array, released with it. A consumer may take single ones out: those are
// marked as released.
template <class Node>
void release_children(Node* node) {
    for (int64_t i = 0; i < node->n_children; ++i) {
        Node* const child = node->children[i];
        if (child->release) child->release(child);
        std::free(child);
    }
    std::free(node->children);
}

// Makes room for children, all released; false: there is no memory.
template <class Node>
bool allocate_children(Node* node, int64_t count) {
    node->children = static_cast<Node**>(std::calloc(size_t(count) + 1, sizeof(Node*)));
    if (!node->children) return false;
    for (; node->n_children < count; ++node->n_children) {
        node->children[node->n_children] = static_cast<Node*>(std::calloc(1, sizeof(Node)));
        if (!node->children[node->n_children]) return false;
    }
    return true;
}

}  // namespace epic
