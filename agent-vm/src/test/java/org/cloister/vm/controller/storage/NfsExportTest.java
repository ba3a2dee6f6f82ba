package org.cloister.vm.controller.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.cloister.base.address.Ipv4Address;
import org.cloister.vm.worker.storage.StorageMount;
import org.junit.jupiter.api.Test;

class NfsExportTest {
    private static final Ipv4Address WORKER = new Ipv4Address("10.70.0.2");
    private static final NfsExport EXPORT = new NfsExport(WORKER, 2001, 2001, false);
    /** As exportfs of nfs-utils 2.6 wrote it. */
    private static final String ETAB =
            "/project\t10.70.0.2(rw,sync,wdelay,hide,nocrossmnt,secure,root_squash,all_squash,no_subtree_check,secure_locks,acl,"
                    + "no_pnfs,fsid=0,anonuid=2001,anongid=2001,sec=sys,rw,secure,root_squash,all_squash)\n";

    @Test
    void a_line_of_etab_is_an_export_or_it_is_not() throws IOException {
        NfsExport.EtabEntry line = NfsExport.EtabEntry.parse(ETAB).get(0);
        assertThat(line.matches(EXPORT, "/project")).isTrue();
        assertThat(line.matches(EXPORT, "/elsewhere")).isFalse();
        assertThat(line.matches(new NfsExport(WORKER, 2002, 2001, false), "/project"))
                .isFalse();
        assertThat(line.matches(new NfsExport(WORKER, 2001, 2001, true), "/project"))
                .isFalse();
        assertThat(line.matches(new NfsExport(new Ipv4Address("10.70.0.3"), 2001, 2001, false), "/project"))
                .isFalse();
        assertThat(NfsExport.EtabEntry.parse(ETAB.replace(",all_squash", ""))
                        .get(0)
                        .matches(EXPORT, "/project"))
                .isFalse();
    }

    @Test
    void etab_is_read_whole_or_not_at_all() throws IOException {
        assertThat(NfsExport.EtabEntry.parse("")).isEmpty();
        assertThat(NfsExport.EtabEntry.parse("/a\t*(ro)\n/b c(rw)\n"))
                .extracting(NfsExport.EtabEntry::client)
                .containsExactly("*", "c");
        for (String bad : List.of("/project\n", "/project\t10.70.0.2\n", "/project 10.70.0.2(rw\n", "\n")) {
            assertThatThrownBy(() -> NfsExport.EtabEntry.parse(bad)).isInstanceOf(IOException.class);
        }
    }

    @Test
    void nobody_is_squashed_to_root_or_a_daemon() {
        assertThat(new NfsExport(WORKER, 1000, 60_000, true).options())
                .startsWith("ro,")
                .endsWith("anonuid=1000,anongid=60000");
        for (int id : new int[] {0, 999, 60_001, -1}) {
            assertThatThrownBy(() -> new NfsExport(WORKER, id, 2001, false))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> new NfsExport(WORKER, 2001, id, false))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void a_mount_is_hard_and_gives_no_rights() {
        StorageMount mount = new StorageMount("/home/ada", Path.of("/project/home/ada"), true);
        assertThat(mount.command(new Ipv4Address("10.70.0.1")))
                .containsExactly(
                        "mount",
                        "-t",
                        "nfs4",
                        "-o",
                        "vers=4.2,hard,sec=sys,proto=tcp,nosuid,nodev,retry=0,ro",
                        "10.70.0.1:/home/ada",
                        "/project/home/ada");
        for (String path : List.of("", "home", "/home/../etc", "/a b", "/a,b", "/a/", "//a", "/./a", "/a:b")) {
            assertThatThrownBy(() -> new StorageMount(path, Path.of("/p"), false))
                    .hasMessageStartingWith("export: ");
        }
        assertThatThrownBy(() -> new StorageMount("/", Path.of("/"), false)).hasMessageStartingWith("mount point: ");
        assertThatThrownBy(() -> new StorageMount("/", Path.of("p"), false)).hasMessageStartingWith("mount point: ");
    }
}
