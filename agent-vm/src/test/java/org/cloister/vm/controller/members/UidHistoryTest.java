package org.cloister.vm.controller.members;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.cloister.vm.system.users.ProjectMember;
import org.cloister.vm.system.users.ProjectMembers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UidHistoryTest {
    private static final Path FILE = Path.of("uids");

    private static ProjectMembers members(ProjectMember... list) {
        return new ProjectMembers(List.of(list));
    }

    @Test
    void reads_back_what_it_writes_and_forgets_nobody() throws IOException {
        UidHistory seen = UidHistory.none()
                .with(members(new ProjectMember("ada", 2001, 2000), new ProjectMember("bob", 60_000, 2000)))
                .with(members(new ProjectMember("kim", 1000, 2000)));
        assertThat(seen.text()).isEqualTo("1000 kim\n2001 ada\n60000 bob\n");
        assertThat(UidHistory.parse(FILE, seen.text())).isEqualTo(seen);
        assertThat(UidHistory.parse(FILE, "")).isEqualTo(UidHistory.none());
    }

    @Test
    void each_member_who_would_have_anothers_files_is_said() {
        UidHistory seen = UidHistory.none()
                .with(members(new ProjectMember("ada", 2001, 2000), new ProjectMember("bob", 2002, 2000)));
        assertThat(seen.problems(members(new ProjectMember("ada", 2001, 3000), new ProjectMember("eve", 2003, 2000))))
                .isEmpty();
        assertThat(seen.problems(members(new ProjectMember("ada", 2002, 2000), new ProjectMember("eve", 2001, 2000))))
                .containsExactly(
                        "uid of ada: want one that nobody else had, have 2002, which was bob's",
                        "uid of ada: want 2001, which owns the member's files, have 2002",
                        "uid of eve: want one that nobody else had, have 2001, which was ada's");
    }

    @ParameterizedTest
    @ValueSource(strings = {"2001", "2001 Ada", "0 ada", "2001  ada", "2001 ada\n2001 ada", "2001 ada x", "\n2001 ada"})
    void a_book_that_is_none_is_no_empty_one(String text) {
        assertThatThrownBy(() -> UidHistory.parse(FILE, text))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("uids:");
    }
}
