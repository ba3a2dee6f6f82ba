package org.cloister.vm.controller;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ResourceStackTest {
    private final List<String> ended = new ArrayList<>();

    @Test
    void a_part_that_does_not_end_well_keeps_none_of_the_others() {
        ResourceStack parts = new ResourceStack();
        parts.push(() -> ended.add("drive"));
        parts.push(() -> {
            throw new IllegalStateException("as the test wants it");
        });
        parts.push(() -> ended.add("storage"));
        parts.push(() -> {
            throw new IOException("as the test wants it");
        });
        parts.push(() -> ended.add("queue"));
        parts.close();
        assertThat(ended).containsExactly("queue", "storage", "drive");
        parts.close();
        assertThat(ended).hasSize(3);
    }
}
