package org.cloister.ctl.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.cloister.ctl.systemd.SystemdTree;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The command {@code host drives}, with another tree for systemd's files. */
class HostDrivesTest {
    private static final String DROP_IN = "etc/systemd/system/agent-host.service.d/drives.conf";
    private static final String ME = System.getProperty("user.name");

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init")
    private SystemdTree machine;

    @SuppressWarnings("NullAway.Init")
    private Path drives;

    record Result(int status, String out, String err) {}

    @BeforeEach
    void setUp() throws IOException {
        machine = SystemdTree.running(Files.createDirectory(folder.resolve("machine")))
                .with("agent-host.service");
        drives = folder.toRealPath().resolve("srv/drives");
    }

    private Result run(Path at, String user) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int status = new CommandLine(new HostDrivesCommand(machine.units()))
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .setExecutionExceptionHandler((e, command, parsed) -> {
                    command.getErr().println(e.getMessage());
                    return 2;
                })
                .execute(at.toString(), "--user", user);
        return new Result(status, out.toString(), err.toString());
    }

    private String done() {
        Result result = run(drives, ME);
        assertThat(result.err()).isEmpty();
        assertThat(result.status()).isZero();
        return result.out();
    }

    private void refused(Path at, String user, String... reasons) throws IOException {
        Result result = run(at, user);
        assertThat(result.err()).contains(reasons);
        assertThat(result.status()).isEqualTo(2);
        assertThat(machine.root().resolve(DROP_IN)).doesNotExist();
        assertThat(machine.calls()).isEmpty();
        if (Files.isDirectory(at)) {
            assertThat(at.resolve("cloister-drives")).doesNotExist();
        }
    }

    private static String mode(Path file) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }

    @Test
    void a_new_storage_is_agent_hosts_and_marked_and_its_unit_may_write_there() throws IOException {
        assertThat(done())
                .contains("drives = \"" + drives + "\" in [vm]", "systemctl restart agent-host", "file-system");
        assertThat(drives.resolve("cloister-drives")).isRegularFile().isEmptyFile();
        assertThat(mode(drives)).isEqualTo("rwx--x--x");
        assertThat(Files.getOwner(drives).getName()).isEqualTo(ME);
        assertThat(machine.root().resolve(DROP_IN)).content().endsWith("\n[Service]\nReadWritePaths=" + drives + "\n");
        assertThat(mode(machine.root().resolve(DROP_IN))).isEqualTo("rw-r--r--");
        assertThat(machine.calls()).containsExactly("daemon-reload");
    }

    @Test
    void it_may_be_repeated_and_on_a_host_that_finds_the_storage_made() throws IOException {
        done();
        Files.createDirectory(drives.resolve("project"));
        Object inode = Files.getAttribute(drives.resolve("cloister-drives"), "unix:ino");
        Files.setPosixFilePermissions(drives, PosixFilePermissions.fromString("rwxr-xrwx"));
        Files.delete(machine.root().resolve(DROP_IN));
        assertThat(done()).contains("which was there");
        assertThat(Files.getAttribute(drives.resolve("cloister-drives"), "unix:ino"))
                .isEqualTo(inode);
        assertThat(mode(drives)).as("readers stay, writers do not").isEqualTo("rwxr-xr-x");
        assertThat(machine.root().resolve(DROP_IN)).exists();
    }

    @Test
    void without_the_unit_there_is_no_drop_in() throws IOException {
        Files.delete(machine.root().resolve("usr/lib/systemd/system/agent-host.service"));
        assertThat(done()).doesNotContain("drives.conf");
        assertThat(machine.root().resolve(DROP_IN)).doesNotExist();
        assertThat(machine.calls()).isEmpty();
    }

    @Test
    void where_systemd_does_not_run_nothing_is_reloaded() throws IOException {
        Files.delete(machine.root().resolve("run/systemd/system"));
        done();
        assertThat(machine.root().resolve(DROP_IN)).exists();
        assertThat(machine.calls()).isEmpty();
    }

    @Test
    void a_storage_that_is_configured_and_not_mounted_gets_no_mark() throws IOException {
        Files.createDirectories(drives);
        Files.writeString(
                machine.root().resolve("etc/fstab"), "nas:/drives " + drives.getParent() + " nfs4 hard 0 0\n");
        refused(drives, ME, "want its file system mounted", "mount " + drives.getParent());
    }

    @Test
    void links_files_and_hidden_places_are_refused() throws IOException {
        Path link = folder.toRealPath().resolve("link");
        Files.createDirectories(drives);
        Files.createSymbolicLink(link, drives);
        refused(link, ME, "want a path without symbolic links", drives.toString());
        refused(link.resolve("below"), ME, "want a path without symbolic links");
        Files.writeString(drives.resolve("file"), "");
        refused(drives.resolve("file"), ME, "want a folder, have a link or a file");
        Files.delete(drives.resolve("file"));
        refused(machine.root().toRealPath().resolve("home/drives"), ME, "which the unit hides");
        refused(drives.resolve("a b"), ME, "letters, digits and");
        refused(drives, "no-such-user", "install cloister-agent-host first");
    }

    @Test
    void a_folder_of_another_account_is_taken_only_if_it_is_empty() throws IOException {
        Files.createDirectories(drives.resolve("data"));
        refused(drives, "daemon", "want a folder of daemon or an empty one, have one of " + ME + " with data");
        Files.delete(drives.resolve("data"));
        Files.createDirectory(drives.resolve("lost+found"));
        Result result = run(drives, "daemon");
        if (ME.equals("root")) {
            assertThat(result.err()).isEmpty();
            assertThat(Files.getOwner(drives, LinkOption.NOFOLLOW_LINKS).getName())
                    .isEqualTo("daemon");
            assertThat(drives.resolve("cloister-drives")).exists();
        } else {
            assertThat(result.err()).contains("cannot be given to daemon", "as root");
            assertThat(drives.resolve("cloister-drives")).doesNotExist();
        }
    }

    @Test
    void a_drop_in_by_hand_of_the_same_form_is_replaced_and_another_stays() throws IOException {
        Path file = machine.root().resolve(DROP_IN);
        Files.createDirectories(file.resolveSibling("."));
        Files.writeString(file, "[Service]\nReadWritePaths=/srv/old\n");
        done();
        assertThat(file).content().contains("ReadWritePaths=" + drives + "\n");
        for (String other : List.of("[Service]\nReadWritePaths=/srv/old\nNice=1\n", "")) {
            Files.writeString(file, other);
            Result result = run(drives, ME);
            assertThat(result.status()).isEqualTo(2);
            assertThat(result.err()).contains("drives.conf: want a drop-in that agentctl wrote", "move it away");
            assertThat(file).hasContent(other);
        }
    }

    @Test
    void a_mark_that_is_no_file_is_refused() throws IOException {
        Files.createDirectories(drives);
        Files.createSymbolicLink(drives.resolve("cloister-drives"), Path.of("/etc/passwd"));
        Result result = run(drives, ME);
        assertThat(result.status()).isEqualTo(2);
        assertThat(result.err()).contains("cloister-drives: want a regular file");
        assertThat(machine.calls()).isEmpty();
    }
}
