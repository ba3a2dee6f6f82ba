package org.cloister.vm.controller;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests an agent that finds a project without its keys. */
class OrphanedProjectTest {
    private final List<String> ended = new ArrayList<>();

    @Test
    void a_part_that_does_not_end_keeps_none_from_it() {
        OrphanedProject.Component daemons = new OrphanedProject.Component("daemons", () -> {
            ended.add("daemons");
            throw new IOException("one stays");
        });
        OrphanedProject.Component storage = new OrphanedProject.Component("storage", () -> {
            ended.add("storage");
            throw new IllegalStateException("a defect");
        });
        OrphanedProject.Component drive = new OrphanedProject.Component("drive", () -> ended.add("drive"));
        new OrphanedProject(List.of(daemons, storage, drive)).stopAll();
        assertThat(ended).containsExactly("daemons", "storage", "drive");
    }
}
