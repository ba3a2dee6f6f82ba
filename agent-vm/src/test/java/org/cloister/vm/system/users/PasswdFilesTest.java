package org.cloister.vm.system.users;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PasswdFilesTest {
    private static final String PASSWD = """
            root:x:0:0:root:/root:/bin/bash
            slurm:x:64030:64030:Z\u00fcrich,,,:/nonexistent:/usr/sbin/nologin
            nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
            +::::::
            """;
    private static final String GROUP = """
            root:x:0:
            adm:x:4:syslog
            slurm:x:64030:
            """;
    private static final ProjectMember ADA = new ProjectMember("ada", 2001, 2001);
    private static final ProjectMember BOB = new ProjectMember("bob", 2002, 2000);
    private static final ProjectMember EVE = new ProjectMember("eve", 2000, 2000);

    @TempDir
    private Path etc = Path.of("");

    @BeforeEach
    void system() throws IOException {
        Files.writeString(etc.resolve("passwd"), PASSWD, StandardCharsets.ISO_8859_1);
        Files.writeString(etc.resolve("group"), GROUP);
    }

    private void write(ProjectMember... members) throws IOException {
        new PasswdFiles(etc, Path.of("/project/home")).write(new ProjectMembers(List.of(members)));
    }

    private String read(String name) throws IOException {
        return Files.readString(etc.resolve(name), StandardCharsets.ISO_8859_1);
    }

    @Test
    void members_stand_behind_the_systems_own_lines() throws IOException {
        write(ADA, BOB, EVE);
        assertThat(read("passwd")).isEqualTo(PASSWD + """
                ada:*:2001:2001:Cloister member:/project/home/ada:/bin/bash
                bob:*:2002:2000:Cloister member:/project/home/bob:/bin/bash
                eve:*:2000:2000:Cloister member:/project/home/eve:/bin/bash
                """);
        assertThat(read("group")).isEqualTo(GROUP + """
                eve:!cloister:2000:eve,bob
                ada:!cloister:2001:ada
                """);
    }

    @Test
    void files_stay_readable_for_everybody_and_nothing_is_left_beside() throws IOException {
        write(ADA);
        for (String name : List.of("passwd", "group")) {
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(etc.resolve(name))))
                    .isEqualTo("rw-r--r--");
        }
        try (var files = Files.list(etc)) {
            assertThat(files).hasSize(2);
        }
    }

    @Test
    void who_left_is_gone_and_who_is_new_is_there() throws IOException {
        write(ADA, BOB);
        write(EVE);
        assertThat(read("passwd")).doesNotContain("ada", "bob").contains("eve:*:2000:");
        assertThat(read("group")).doesNotContain("ada", "bob").contains("eve:!cloister:2000:eve\n");
        write();
        assertThat(read("passwd")).isEqualTo(PASSWD);
        assertThat(read("group")).isEqualTo(GROUP);
    }

    @Test
    void a_member_with_a_room_and_a_phone_is_still_a_member() throws IOException {
        write(ADA);
        Files.writeString(
                etc.resolve("passwd"),
                read("passwd").replace("Cloister member:", "Cloister member,7,555,:"),
                StandardCharsets.ISO_8859_1);
        write(ADA);
        assertThat(read("passwd").lines().filter(line -> line.startsWith("ada:")))
                .hasSize(1);
    }

    @Test
    void writing_again_changes_nothing() throws IOException {
        write(ADA, BOB);
        String passwd = read("passwd");
        String group = read("group");
        write(ADA, BOB);
        assertThat(read("passwd")).isEqualTo(passwd);
        assertThat(read("group")).isEqualTo(group);
    }

    @Test
    void a_name_or_number_of_the_system_is_refused_and_nothing_changes() throws IOException {
        String more = "site:x:3000:3000::/:/bin/sh\n";
        Files.writeString(etc.resolve("passwd"), PASSWD + more, StandardCharsets.ISO_8859_1);
        Files.writeString(etc.resolve("group"), GROUP + "users:x:3001:\n");
        for (ProjectMember bad : List.of(
                new ProjectMember("site", 3005, 3005),
                new ProjectMember("kim", 3000, 3005),
                new ProjectMember("users", 3005, 3005),
                new ProjectMember("kim", 3005, 3001))) {
            assertThatThrownBy(() -> write(ADA, bad))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("does not have");
            assertThat(read("passwd")).isEqualTo(PASSWD + more);
            assertThat(read("group")).isEqualTo(GROUP + "users:x:3001:\n");
        }
    }

    @Test
    void a_half_written_file_of_a_former_life_is_no_hindrance() throws IOException {
        Files.writeString(etc.resolve(".passwd.new"), "ro");
        write(ADA);
        assertThat(read("passwd")).contains("ada:*:2001:");
        assertThat(etc.resolve(".passwd.new")).doesNotExist();
    }

    @Test
    void without_the_systems_file_nothing_is_written() throws IOException {
        Files.delete(etc.resolve("passwd"));
        assertThatThrownBy(() -> write(ADA)).isInstanceOf(IOException.class);
        assertThat(read("group")).isEqualTo(GROUP);
        assertThat(etc.resolve("passwd")).doesNotExist();
    }
}
