package org.cloister.lab.guide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.cloister.lab.guide.GuideStep.Carried;
import org.cloister.lab.guide.GuideStep.MachineCommands;
import org.cloister.lab.guide.GuideStep.NotRun;
import org.cloister.lab.guide.GuideStep.PersonCommands;
import org.cloister.lab.guide.GuideStep.PersonFile;
import org.cloister.lab.guide.GuideStep.PlacedFile;
import org.cloister.lab.guide.GuideStep.Settings;
import org.junit.jupiter.api.Test;

class GuideStepTest {
    @Test
    void blocks_run_where_the_comment_above_them_says() {
        String guide = """
                # Guide

                Make it:

                <!-- run on admin h1 -->

                    agentctl site init --site ca
                    ls \\
                        ca

                Then, as a person:

                <!-- carry admin:ca/a.pem to ann:a.pem h1:/etc/a.pem -->
                <!-- run as ann -->

                    true

                    false
                """;
        assertThat(GuideStep.parse(guide))
                .containsExactly(
                        new MachineCommands(
                                7, List.of("admin", "h1"), false, "agentctl site init --site ca\nls \\\n    ca\n"),
                        new Carried(
                                13,
                                new PlacedFile("admin", "ca/a.pem"),
                                List.of(new PlacedFile("ann", "a.pem"), new PlacedFile("h1", "/etc/a.pem"))),
                        new PersonCommands(16, "ann", false, "true\n\nfalse\n"));
    }

    @Test
    void a_fenced_block_is_the_content_of_a_file_or_settings_of_one() {
        String guide = """
                <!-- file policy as ann -->
                ```json
                {
                    "serial": 1
                }
                ```

                <!-- set /etc/a.toml on h1 -->
                ```toml
                a = 1
                ```
                """;
        assertThat(GuideStep.parse(guide))
                .containsExactly(
                        new PersonFile(2, "ann", "policy", "{\n    \"serial\": 1\n}\n"),
                        new Settings(9, "h1", "/etc/a.toml", "a = 1\n"));
    }

    @Test
    void people_do_the_same_each_with_their_own_name_and_again_until_it_succeeds() {
        String guide = """
                <!-- run as ann, and as ben -->

                    agentctl project key --key ann.json --out annual

                <!-- run on h1 until it succeeds -->

                    agentctl host status
                """;
        assertThat(GuideStep.parse(guide))
                .containsExactly(
                        new PersonCommands(3, "ann", false, "agentctl project key --key ann.json --out annual\n"),
                        new PersonCommands(3, "ben", false, "agentctl project key --key ben.json --out annual\n"),
                        new MachineCommands(7, List.of("h1"), true, "agentctl host status\n"));
    }

    @Test
    void what_a_guide_says_of_its_host_is_done_on_each_host_of_the_site() {
        String guide = """
                <!-- run on relay h1 -->

                    agentctl host join --token h1.token

                <!-- run on admin -->

                    agentctl site enrol --token h1.token h1

                <!-- carry admin:h1.token to h1:h1.token -->
                <!-- set /etc/a.toml on h1 -->
                ```toml
                a = 1
                ```

                <!-- run as ann -->

                    agentctl project policy --host h1.pem
                """;
        List<GuideStep> steps = new GuideHosts(List.of("h1", "h2")).steps(GuideStep.parse(guide));
        assertThat(steps)
                .containsExactly(
                        new MachineCommands(
                                3, List.of("relay", "h1", "h2"), false, "agentctl host join --token h1.token\n"),
                        new MachineCommands(7, List.of("admin"), false, "agentctl site enrol --token h1.token h1\n"),
                        new MachineCommands(7, List.of("admin"), false, "agentctl site enrol --token h2.token h2\n"),
                        new Carried(9, new PlacedFile("admin", "h1.token"), List.of(new PlacedFile("h1", "h1.token"))),
                        new Carried(9, new PlacedFile("admin", "h2.token"), List.of(new PlacedFile("h2", "h2.token"))),
                        new Settings(11, "h1", "/etc/a.toml", "a = 1\n"),
                        new Settings(11, "h2", "/etc/a.toml", "a = 1\n"),
                        new PersonCommands(17, "ann", false, "agentctl project policy --host h1.pem\n"));
        MachineCommands join = (MachineCommands) steps.get(0);
        assertThat(join.script("h2")).isEqualTo("agentctl host join --token h2.token\n");
        assertThat(join.script("relay")).isEqualTo("agentctl host join --token h1.token\n");
        assertThat(new GuideHosts(List.of("h1")).steps(GuideStep.parse(guide))).isEqualTo(GuideStep.parse(guide));
    }

    @Test
    void a_block_that_is_not_run_says_why() {
        assertThat(GuideStep.parse("<!-- not run: the lab has no printer -->\n\n    lpr\n"))
                .containsExactly(new NotRun(3, "the lab has no printer", "lpr\n"));
    }

    @Test
    void a_block_without_a_comment_is_an_error_that_names_its_line() {
        assertThatThrownBy(() -> GuideStep.parse("Text:\n\n    true\n"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("line 3: no comment above this block");
        assertThatThrownBy(() -> GuideStep.parse("<!-- file policy -->\n\n    true\n"))
                .hasMessageStartingWith("line 3: want <!-- file NAME as PERSON -->");
        assertThatThrownBy(() -> GuideStep.parse("<!-- carry a b -->\n"))
                .hasMessageStartingWith("line 1: want <!-- carry");
    }
}
