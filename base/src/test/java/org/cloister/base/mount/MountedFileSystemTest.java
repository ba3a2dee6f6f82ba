package org.cloister.base.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.cloister.base.process.ProcessRunner;
import org.junit.jupiter.api.Test;

class MountedFileSystemTest {
    @Test
    void reads_lines_with_and_without_optional_fields() throws IOException {
        assertThat(MountedFileSystem.parse("""
                        36 35 98:0 /mnt1 /mnt\\0402 rw,nosuid master:1 shared:2 - ext4 /dev/mapper/cloister-scratch rw,errors=continue
                        40 35 0:50 / /project rw,nodev - nfs4 10.70.0.1:/ rw,vers=4.2
                        """))
                .containsExactly(
                        new MountedFileSystem(
                                "/mnt1",
                                "/mnt 2",
                                List.of("rw", "nosuid"),
                                "ext4",
                                "/dev/mapper/cloister-scratch",
                                List.of("rw", "errors=continue")),
                        new MountedFileSystem(
                                "/",
                                "/project",
                                List.of("rw", "nodev"),
                                "nfs4",
                                "10.70.0.1:/",
                                List.of("rw", "vers=4.2")));
    }

    @Test
    void a_source_may_be_empty_and_a_root_may_be_no_path() throws IOException {
        assertThat(MountedFileSystem.parse("""
                        50 40 0:60 / /mnt/fuse rw - fuse  rw,user_id=0
                        51 40 0:4 net:[4026532281] /run/netns/a rw shared:5 - nsfs nsfs rw
                        """))
                .extracting(MountedFileSystem::source)
                .containsExactly("", "nsfs");
    }

    @Test
    void a_users_mount_does_not_hide_the_others() throws IOException {
        String place = "/home/eve/a\rb\u2028c";
        String text = """
                60 40 0:70 / %s rw - fuse.x x rw,user_id=0,y z - cgroup2 none rw
                61 40 0:71 / /project rw - nfs4 10.70.0.1:/ rw
                """.formatted(place);
        assertThat(MountedFileSystem.parse(text))
                .extracting(MountedFileSystem::place, MountedFileSystem::type)
                .containsExactly(tuple(place, "fuse.x"), tuple("/project", "nfs4"));
    }

    @Test
    void what_is_no_line_is_an_error() {
        for (String line : List.of("\n", "36 35 98:0 / /a rw", "36 35 98:0 / /a rw - ext4 /dev/vda", "x")) {
            assertThatThrownBy(() -> MountedFileSystem.parse(line)).isInstanceOf(IOException.class);
        }
    }

    @Test
    void reads_this_machines_own() throws IOException {
        assertThat(MountedFileSystem.list(ProcessRunner.local()))
                .extracting(MountedFileSystem::mountPoint)
                .contains(Path.of("/proc"));
    }
}
