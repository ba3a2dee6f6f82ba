package org.cloister.vm.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class MountTest {
    @Test
    void reads_lines_with_and_without_optional_fields() throws IOException {
        assertThat(Mount.parse("""
                        36 35 98:0 /mnt1 /mnt\\0402 rw,nosuid master:1 shared:2 - ext4 /dev/mapper/cloister-scratch rw,errors=continue
                        40 35 0:50 / /project rw,nodev - nfs4 10.70.0.1:/ rw,vers=4.2
                        """))
                .containsExactly(
                        new Mount(Path.of("/mnt 2"), List.of("rw", "nosuid"), "ext4", "/dev/mapper/cloister-scratch"),
                        new Mount(Path.of("/project"), List.of("rw", "nodev"), "nfs4", "10.70.0.1:/"));
    }

    @Test
    void what_is_no_line_is_an_error() {
        for (String line : List.of("\n", "36 35 98:0 / /a rw", "36 35 98:0 / /a rw - ext4 /dev/vda", "x")) {
            assertThatThrownBy(() -> Mount.parse(line)).isInstanceOf(IOException.class);
        }
    }

    @Test
    void reads_this_machines_own() throws IOException {
        assertThat(Mount.list(Programs.ofThisMachine())).extracting(Mount::at).contains(Path.of("/proc"));
    }
}
