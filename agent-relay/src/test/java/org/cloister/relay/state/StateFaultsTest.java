package org.cloister.relay.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.cloister.relay.state.StateSamples.PROJECT;
import static org.cloister.relay.state.StateSamples.insert;
import static org.cloister.relay.state.StateSamples.list;
import static org.cloister.relay.state.StateSamples.request;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.cloister.relay.state.RelayDatabaseException.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the relay's errors for a database that it cannot use, and that it leaves the database as it is. */
class StateFaultsTest {
    private static final int PAGE = 4096;

    @TempDir
    Path folder = Path.of("");

    @Test
    void a_second_relay_on_the_file_is_refused_in_this_process_and_in_another_one() throws Exception {
        Path file = folder.resolve("relay.db");
        try (RelayDatabase first = RelayDatabase.open(file, NetworkPool.DEFAULT)) {
            RelayDatabaseException refused = refused(file, Kind.LOCKED);
            assertThat(refused)
                    .hasMessageStartingWith(file + ": locked by another process")
                    .hasMessageContaining("stop the other one");
            assertThat(child(List.of(), file)).contains("LOCKED " + file + ": locked by another process");
            assertThat(list(first, t -> t.tickets().open())).isEmpty();
        }
        RelayDatabase.open(file, NetworkPool.DEFAULT).close();
    }

    @Test
    void a_full_disk_undoes_the_transaction_and_ends_can_go_on_when_there_is_room() throws Exception {
        Path file = folder.resolve("relay.db");
        List<String> opening = new ArrayList<>(SqlDialect.SQLITE.opening());
        opening.add("PRAGMA max_page_count = 150");
        SqlDialect small = new SqlDialect(
                opening,
                "PRAGMA quick_check(1)",
                "BEGIN IMMEDIATE",
                SqlDialect.SQLITE.identity(),
                SqlDialect.SQLITE.bytes());
        int kept = 0;
        try (RelayDatabase state = RelayDatabase.open(file, StateSamples.SMALL, small, System::nanoTime)) {
            RelayDatabaseException full = null;
            while (full == null) {
                try {
                    TicketRequest request = request("t" + kept, PROJECT, kept + 1);
                    state.<Boolean, StateConflictException>transact(t -> {
                        t.outbox().add(new byte[] {1});
                        t.tickets().insert(request, new byte[9000], new byte[9000]);
                        return true;
                    });
                    kept++;
                } catch (RelayDatabaseException e) {
                    full = e;
                }
            }
            assertThat(full.failure()).isEqualTo(Kind.FULL);
            assertThat(full)
                    .hasMessageStartingWith(file + ": no room (")
                    .hasMessageContaining("free space on its file");
            assertThat(list(state, t -> t.tickets().open())).hasSize(kept);
        }
        try (RelayDatabase state = RelayDatabase.open(file, StateSamples.SMALL)) {
            assertThat(list(state, t -> t.tickets().open())).hasSize(kept);
            assertThat(list(state, t -> t.outbox().pending(0, 1000))).hasSize(kept);
            insert(state, request("t" + kept, PROJECT, kept + 1));
        }
    }

    @Test
    void a_file_with_a_ruined_page_is_refused_or_whole() throws Exception {
        Path file = filled();
        byte[] good = Files.readAllBytes(file);
        int pages = good.length / PAGE;
        assertThat(pages).isGreaterThan(50);
        Random random = new Random(7);
        int refused = 0;
        for (int page = 0; page < pages; page++) {
            byte[] noise = new byte[PAGE];
            random.nextBytes(noise);
            byte[] bad = good.clone();
            System.arraycopy(noise, 0, bad, page * PAGE, PAGE);
            Path copy = Files.write(folder.resolve("bad.db"), bad);
            try (RelayDatabase state = RelayDatabase.open(copy, StateSamples.SMALL)) {
                assertThat(list(state, t -> t.tickets().open())).hasSize(60);
            } catch (RelayDatabaseException e) {
                assertThat(e.failure()).as("page %d: %s", page, e.getMessage()).isEqualTo(Kind.CORRUPT);
                assertThat(e).hasMessageContaining("docs/operations.md");
                refused++;
            }
        }
        // Pages that hold nothing but the bytes of one envelope are not told from others.
        assertThat(refused).isGreaterThan(20);
    }

    @Test
    void a_file_that_was_cut_short_or_is_something_else_is_refused() throws Exception {
        Path file = filled();
        try (RandomAccessFile cut = new RandomAccessFile(file.toFile(), "rw")) {
            cut.setLength(cut.length() / 2);
        }
        refused(file, Kind.CORRUPT);
        Path text = Files.writeString(folder.resolve("text.db"), "this is no database\n".repeat(1000));
        assertThat(refused(text, Kind.CORRUPT)).hasMessageStartingWith(text + ": damaged (");
        Path other = folder.resolve("other.db");
        sql(other, "CREATE TABLE cats (name TEXT)");
        assertThat(refused(other, Kind.CORRUPT)).hasMessageContaining("want a relay's tables, have cats");
    }

    @Test
    void a_database_of_a_newer_release_is_refused_and_left_as_it_is() throws Exception {
        Path file = filled();
        sql(file, "UPDATE schema_version SET version = 99");
        byte[] before = Files.readAllBytes(file);
        assertThat(refused(file, Kind.NEWER))
                .hasMessageContaining("want a version up to " + StateSchema.newest(SqlDialect.SQLITE) + ", have 99")
                .hasMessageContaining("install that release again");
        assertThat(Files.readAllBytes(file)).isEqualTo(before);
    }

    @Test
    void a_commit_of_which_nobody_knows_whether_it_holds_ends_the_process() throws Exception {
        List<String> fatal = new ArrayList<>();
        try (RelayDatabase state = RelayDatabase.open(folder.resolve("relay.db"), StateSamples.SMALL, fatal::add)) {
            assertThat(list(state, t -> t.tickets().open())).isEmpty();
            assertThat(fatal).isEmpty();
            // Closed under the transaction: the commit finds no answer.
            RelayDatabase same = state;
            RelayDatabaseException unknown = catchThrowableOfType(
                    RelayDatabaseException.class,
                    () -> list(state, t -> {
                        same.close();
                        return List.of();
                    }));
            assertThat(unknown.failure()).isEqualTo(Kind.UNREADABLE);
            assertThat(fatal).containsExactly(unknown.getMessage());
        }
    }

    @Test
    void a_file_or_folder_that_may_not_be_written_is_refused() throws Exception {
        Path file = filled();
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("r--------"));
        assertThat(child(weak(), file)).contains("READ_ONLY " + file + ": not writable");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("---------"));
        assertThat(child(weak(), file)).contains("READ_ONLY " + file + ": not writable");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        Path none = folder.resolve("none/relay.db");
        assertThat(refused(none, Kind.READ_ONLY))
                .hasMessageStartingWith(none + ": not writable (it cannot be created: ");
    }

    @Test
    void nobody_else_may_read_the_files() throws Exception {
        Path file = folder.resolve("relay.db");
        try (RelayDatabase state = RelayDatabase.open(file, NetworkPool.DEFAULT)) {
            insert(state, request("t1", PROJECT, 1));
            try (var files = Files.list(folder)) {
                assertThat(files)
                        .hasSize(2)
                        .allSatisfy(each -> assertThat(Files.getPosixFilePermissions(each))
                                .isEqualTo(PosixFilePermissions.fromString("rw-------")));
            }
        }
    }

    /** Root's right to write any file is taken from the child. */
    private static List<String> weak() {
        return System.getProperty("user.name").equals("root")
                ? List.of("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all")
                : List.of();
    }

    private String child(List<String> before, Path file) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(before);
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Opening.class.getName(),
                file.toString()));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return text;
    }

    /** A process that opens a file and says what came of it. */
    static final class Opening {
        private Opening() {}

        public static void main(String[] args) {
            try (RelayDatabase state = RelayDatabase.open(Path.of(args[0]), StateSamples.SMALL)) {
                System.out.println("open " + state.transact(t -> t.tickets().open()));
            } catch (RelayDatabaseException e) {
                System.out.println(e.failure() + " " + e.getMessage());
            }
        }
    }

    private Path filled() throws RelayDatabaseException, StateConflictException {
        Path file = folder.resolve("filled.db");
        try (RelayDatabase state = RelayDatabase.open(file, StateSamples.SMALL)) {
            for (int i = 1; i <= 60; i++) {
                TicketRequest request = request("t" + i, PROJECT, i);
                state.<Boolean, StateConflictException>transact(t -> {
                    t.tickets().insert(request, new byte[3000], new byte[3000]);
                    return true;
                });
            }
        }
        return file;
    }

    private static RelayDatabaseException refused(Path file, Kind failure) {
        RelayDatabaseException refused = catchThrowableOfType(
                RelayDatabaseException.class,
                () -> RelayDatabase.open(file, StateSamples.SMALL).close());
        assertThat(refused).isNotNull();
        assertThat(refused.failure()).as(refused.getMessage()).isEqualTo(failure);
        assertThatThrownBy(() -> RelayDatabase.open(file, StateSamples.SMALL)).hasMessage(refused.getMessage());
        return refused;
    }

    private static void sql(Path file, String text) throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
                Statement statement = connection.createStatement()) {
            statement.execute(text);
        }
    }
}
