package org.cloister.vm.users;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UidsTest {
    private static final Path FILE = Path.of("uids");

    private static Members members(Member... list) {
        return new Members(List.of(list));
    }

    @Test
    void reads_back_what_it_writes_and_forgets_nobody() throws IOException {
        Uids seen = Uids.none()
                .with(members(new Member("ada", 2001, 2000), new Member("bob", 60_000, 2000)))
                .with(members(new Member("kim", 1000, 2000)));
        assertThat(seen.text()).isEqualTo("1000 kim\n2001 ada\n60000 bob\n");
        assertThat(Uids.parse(FILE, seen.text())).isEqualTo(seen);
        assertThat(Uids.parse(FILE, "")).isEqualTo(Uids.none());
    }

    @Test
    void each_member_who_would_have_anothers_files_is_said() {
        Uids seen = Uids.none().with(members(new Member("ada", 2001, 2000), new Member("bob", 2002, 2000)));
        assertThat(seen.problems(members(new Member("ada", 2001, 3000), new Member("eve", 2003, 2000))))
                .isEmpty();
        assertThat(seen.problems(members(new Member("ada", 2002, 2000), new Member("eve", 2001, 2000))))
                .containsExactly(
                        "uid of ada: want one that nobody else had, have 2002, which was bob's",
                        "uid of ada: want 2001, whose files are there, have 2002",
                        "uid of eve: want one that nobody else had, have 2001, which was ada's");
    }

    @ParameterizedTest
    @ValueSource(strings = {"2001", "2001 Ada", "0 ada", "2001  ada", "2001 ada\n2001 ada", "2001 ada x", "\n2001 ada"})
    void a_book_that_is_none_is_no_empty_one(String text) {
        assertThatThrownBy(() -> Uids.parse(FILE, text))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("uids:");
    }
}
