package org.cloister.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests {@code agent-host-idle} in a folder that stands for libvirt's. */
@Tag("ground")
class IdleHostTest {
    private static final String VM = "cloister-abcdefgh234567ab-0";
    /** Above the kernel's largest. */
    private static final String NOBODY = "4194305";

    @TempDir
    Path folder = Path.of("");

    private Path conf = Path.of("");

    @BeforeEach
    void configure() throws IOException {
        conf = Files.writeString(folder.resolve("root.conf"), "# as shipped\npids " + folder + "\n");
    }

    private PackagingCommand.Result ask() throws IOException, InterruptedException {
        return PackagingCommand.of(
                        BuiltPackages.ROOT
                                .resolve("packaging/src/agent-host/agent-host-idle")
                                .toString(),
                        conf.toString())
                .run();
    }

    @Test
    void a_vm_that_runs_is_named() throws IOException, InterruptedException {
        Files.writeString(
                folder.resolve(VM + ".pid"),
                Long.toString(ProcessHandle.current().pid()));
        assertThat(ask().status()).isEqualTo(1);
        assertThat(ask().text()).contains("the VM " + VM + " runs on this host").contains("hint: drain the node");
    }

    @Test
    void what_a_crash_has_left_and_others_vms_are_no_obstacle() throws IOException, InterruptedException {
        assertThat(ask().status()).as("no file at all").isZero();
        Files.writeString(folder.resolve(VM + ".pid"), NOBODY);
        Files.writeString(folder.resolve("cloister-empty.pid"), "");
        Files.writeString(
                folder.resolve("web.pid"), Long.toString(ProcessHandle.current().pid()));
        assertThat(ask().text()).isEmpty();
        assertThat(ask().status()).isZero();
        Files.delete(conf);
        assertThat(ask().status()).as("libvirt's own folder").isZero();
    }
}
