package org.cloister.daemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TomlReaderTest {
    private static final Pattern WORD = Pattern.compile("[a-z]+");

    @TempDir
    private Path folder;

    private TomlReader reader(String text) throws IOException {
        return TomlReader.open(Files.writeString(folder.resolve("file.toml"), text));
    }

    private List<String> problems(TomlReader toml) {
        return catchThrowableOfType(InvalidConfigException.class, toml::finish).problems().stream()
                .map(each -> each.replace(folder + "/", ""))
                .toList();
    }

    @Test
    void values_come_as_they_are_written() throws IOException {
        TomlReader toml = reader("""
                text = "x"
                path = "/a"
                number = 7
                wait = 90
                at = "[::1]:7443"
                numbers = [3, 1, 3]
                words = ["b", "a"]
                [deep]
                er = 1
                """);
        assertThat(toml.text("text", "")).isEqualTo("x");
        assertThat(toml.path("path", "/")).isEqualTo(Path.of("/a"));
        assertThat(toml.number("number", 0, 7, 7)).isEqualTo(7);
        assertThat(toml.seconds("wait", Duration.ZERO, 0, 90)).isEqualTo(Duration.ofSeconds(90));
        assertThat(toml.address("at", null)).hasToString("/[0:0:0:0:0:0:0:1]:7443");
        assertThat(toml.numbers("numbers", 1, 3)).isEqualTo(Set.of(1, 3));
        assertThat(toml.texts("words", 2, WORD, "words")).containsExactly("b", "a");
        assertThat(toml.number("deep.er", 0, 0, 1)).isEqualTo(1);
        toml.finish();
    }

    @Test
    void what_is_missing_has_its_default_and_is_no_problem() throws IOException {
        TomlReader toml = reader("");
        assertThat(toml.text("text", "otherwise")).isEqualTo("otherwise");
        assertThat(toml.number("number", 3, 1, 5)).isEqualTo(3);
        assertThat(toml.seconds("wait", Duration.ofMinutes(2), 0, 600)).isEqualTo(Duration.ofMinutes(2));
        assertThat(toml.address("at", null)).isNull();
        assertThat(toml.numbers("numbers", 1, 3)).isEmpty();
        assertThat(toml.texts("words", 2, WORD, "words")).isEmpty();
        assertThat(toml.tables("table", 5)).isEmpty();
        assertThat(toml.has("text")).isFalse();
        toml.finish();
    }

    @Test
    void all_problems_come_at_once_in_the_order_of_lines() throws IOException {
        TomlReader toml = reader("""
                path = "here"
                number = 8
                words = ["ok", 1, "ok", "NO"]
                at = "localhost:80"
                other = 1
                """);
        toml.texts("words", 4, WORD, "lower case");
        toml.number("number", 1, 0, 7);
        toml.address("at", null);
        toml.path("path", "/");
        toml.require("must");
        assertThat(problems(toml))
                .containsExactly(
                        "file.toml:1: path: want an absolute path, have \"here\"",
                        "file.toml:1: must: missing",
                        "file.toml:2: number: want 0 to 7, have 8",
                        "file.toml:3: words: want lower case, have 1",
                        "file.toml:3: words: want each once, have \"ok\" twice",
                        "file.toml:3: words: want lower case, have NO",
                        "file.toml:4: at: want ADDRESS:PORT such as \"0.0.0.0:7443\" or \"[::]:7443\", have"
                                + " \"localhost:80\"",
                        "file.toml:5: other: unknown key; known: words, number, at, path, must");
    }

    @Test
    void both_ends_of_a_range_are_held() throws IOException {
        for (int good : new int[] {-1, 5}) {
            TomlReader toml = reader("number = " + good);
            assertThat(toml.number("number", 0, -1, 5)).isEqualTo(good);
            toml.finish();
        }
        for (String bad : List.of("-2", "6", "9223372036854775807", "1.5", "\"1\"", "true")) {
            TomlReader toml = reader("number = " + bad);
            assertThat(toml.number("number", 0, -1, 5)).isZero();
            assertThat(problems(toml)).hasSize(1);
        }
    }

    @Test
    void each_table_is_read_by_itself_and_its_problems_have_its_lines() throws IOException {
        TomlReader toml = reader("""
                [[host]]
                cpus = 1
                [[host]]
                cpu = 2
                [[host]]
                cpus = 9
                """);
        List<TomlReader> tables = toml.tables("host", 3);
        assertThat(tables).hasSize(3);
        for (TomlReader table : tables) {
            table.require("cpus");
            table.number("cpus", 1, 1, 8);
        }
        assertThat(problems(toml))
                .containsExactly(
                        "file.toml:3: host[1].cpus: missing",
                        "file.toml:4: host[1].cpu: unknown key; known: cpus",
                        "file.toml:6: host[2].cpus: want 1 to 8, have 9");
    }

    @Test
    void a_list_that_is_none_of_tables_or_too_long_is_a_problem() throws IOException {
        TomlReader scalar = reader("host = 1");
        assertThat(scalar.tables("host", 3)).isEmpty();
        assertThat(problems(scalar)).containsExactly("file.toml:1: host: want tables, each under [[host]], have 1");
        TomlReader mixed = reader("host = [{a = 1}, 2]");
        assertThat(mixed.tables("host", 3)).isEmpty();
        assertThat(problems(mixed)).hasSize(1);
        TomlReader many = reader("[[host]]\n[[host]]\n");
        assertThat(many.tables("host", 1)).isEmpty();
        assertThat(problems(many)).containsExactly("file.toml:1: host: want at most 1 tables, have 2");
        TomlReader words = reader("words = [\"a\", \"b\"]");
        assertThat(words.texts("words", 1, WORD, "words")).isEmpty();
        assertThat(problems(words)).hasSize(1);
    }

    @Test
    void a_torn_file_says_where() throws IOException {
        TomlReader toml = reader("a = 1\na = 2\nb =\n");
        toml.number("a", 0, 0, 9);
        toml.has("b");
        assertThat(problems(toml)).hasSize(2).first().asString().startsWith("file.toml:2: ");
    }

    /** An assertion of the parser fails for such a header; the daemons run without assertions, and say what is wrong. */
    @Test
    void a_broken_header_before_a_comment_is_a_problem_and_no_failure() throws IOException {
        assertThat(problems(reader("[1#\"'=\"\0]"))).isNotEmpty().allMatch(each -> each.startsWith("file.toml:1: "));
    }

    @Test
    void a_path_with_a_null_character_is_a_problem_and_no_failure() throws IOException {
        TomlReader toml = reader("path = \"a\\u0000b\"");
        assertThat(toml.path("path", "relative")).isEqualTo(Path.of("relative"));
        assertThat(problems(toml)).hasSize(1);
    }

    @Test
    void a_file_that_is_not_there_is_a_problem_with_a_remedy() {
        assertThatThrownBy(() -> TomlReader.open(folder.resolve("none.toml")))
                .isInstanceOf(InvalidConfigException.class)
                .hasMessage(folder.resolve("none.toml") + ": no such file; the package has a sample of it");
    }

    @Test
    void what_came_as_bytes_is_read_as_a_file_is_and_has_to_be_text() throws IOException {
        TomlReader toml = TomlReader.of(Path.of("file.toml"), "a = 1\nb = 2\n".getBytes(StandardCharsets.UTF_8));
        assertThat(toml.number("a", 0, 0, 9)).isEqualTo(1);
        assertThat(problems(toml)).containsExactly("file.toml:2: b: unknown key; known: a");
        assertThatThrownBy(() -> TomlReader.of(Path.of("file.toml"), new byte[] {'a', (byte) 0xff}))
                .isInstanceOf(InvalidConfigException.class)
                .hasMessage("file.toml: want text in UTF-8, have other bytes");
    }
}
