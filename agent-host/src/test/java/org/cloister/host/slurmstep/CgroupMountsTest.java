package org.cloister.host.slurmstep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class CgroupMountsTest {
    private static final String TEXT = """
            23 1 0:21 / /proc rw,relatime - proc proc rw
            31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
            32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 master:3 - cgroup cgroup rw,cpu,cpuacct
            35 31 0:32 /box /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
            36 31 0:32 / /mnt/memory rw,relatime - cgroup cgroup rw,memory
            40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd
            41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate
            """;

    @Test
    void a_hierarchy_is_found_by_its_controllers_in_whatever_order() throws IOException {
        CgroupMounts mounts = CgroupMounts.parse(TEXT);
        assertThat(mounts.root("cpuacct,cpu")).isEqualTo(Path.of("/sys/fs/cgroup/cpu,cpuacct"));
        assertThat(mounts.root("name=systemd")).isEqualTo(Path.of("/sys/fs/cgroup/systemd"));
        assertThat(mounts.root("")).isEqualTo(Path.of("/sys/fs/cgroup/unified"));
    }

    @Test
    void a_part_of_a_hierarchy_is_not_taken_for_the_whole() throws IOException {
        assertThat(CgroupMounts.parse(TEXT).root("memory")).isEqualTo(Path.of("/mnt/memory"));
    }

    @Test
    void one_that_is_not_mounted_is_refused() throws IOException {
        CgroupMounts mounts = CgroupMounts.parse(TEXT);
        assertThatThrownBy(() -> mounts.root("cpu"))
                .isInstanceOf(NotInJobStep.class)
                .hasMessageContaining("mount it");
        assertThatThrownBy(() -> CgroupMounts.parse("").root("")).isInstanceOf(NotInJobStep.class);
    }
}
