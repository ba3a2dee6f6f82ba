package org.cloister.preflight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class QemuSettingsTest {
    private static final String COMMENT =
            "# Written by agentctl host prepare: agent-host moves QEMU into its job's cgroup.";

    private static List<String> controllers(String text) throws IOException {
        return QemuSettings.parse(text).values("cgroup_controllers");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "cgroup_controllers = [ ]\n",
                "cgroup_controllers=[]",
                "\t cgroup_controllers\t=\t[\t]\t# ours\n",
                "cgroup_controllers = [\n\n]\n",
                "cgroup_controllers = [ # \"cpu\" ]\n]\n",
                "user = \"root\"\r\ncgroup_controllers = [ ]\r\n",
                "cgroup_controllers = []\ncgroup_controllers = [ ]\n",
                "# cgroup_controllers = [ \"cpu\" ]\ncgroup_controllers = [ ]\n",
            })
    void what_is_set_stays_as_it_is(String text) throws IOException {
        assertThat(QemuSettings.parse(text).withoutOwnCgroups()).isSameAs(text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "\n",
                "# cgroup_controllers = [ ]\n",
                "#cgroup_controllers = [ ]\n",
                "#cgroup_controllers = [\n#    \"cpu\",\n#    \"memory\"\n#]\n",
                "cgroup_device_acl = [\n    \"/dev/null\", # one\n    \"/dev/kvm\"\n]\n",
                "cgroup_controllers_more = [ ]\n",
                "my_cgroup_controllers = [ ]\n",
                "cgroup_controllers\n",
                "hook = \"cgroup_controllers = [ ]\"\n",
                "hook = 'cgroup_controllers = [ ]'\n",
                "text = \"\"\"\ncgroup_controllers = [ ]\n\"\"\"\n",
                "paths = [ \"cgroup_controllers = [ ]\",\n]\n",
                "open = \"not closed\n",
                "empty =\n",
                "empty = # nothing\n",
            })
    void what_is_not_set_is_added_behind_the_last_line(String text) throws IOException {
        assertThat(controllers(text)).isEmpty();
        String edited = QemuSettings.parse(text).withoutOwnCgroups();
        assertThat(edited).isEqualTo(text + COMMENT + "\ncgroup_controllers = [ ]\n");
        assertThat(controllers(edited)).containsExactly("[]");
        assertThat(QemuSettings.parse(edited).withoutOwnCgroups()).isSameAs(edited);
    }

    @Test
    void a_last_line_without_its_end_is_not_continued() throws IOException {
        assertThat(QemuSettings.parse("user = \"root\"").withoutOwnCgroups())
                .isEqualTo("user = \"root\"\n" + COMMENT + "\ncgroup_controllers = [ ]\n");
        assertThat(QemuSettings.parse("# the end").withoutOwnCgroups())
                .isEqualTo("# the end\n" + COMMENT + "\ncgroup_controllers = [ ]\n");
    }

    @Test
    void line_ends_are_those_of_the_last_line() throws IOException {
        String added = COMMENT + "\r\ncgroup_controllers = [ ]\r\n";
        assertThat(QemuSettings.parse("user = \"root\"\r\n").withoutOwnCgroups())
                .isEqualTo("user = \"root\"\r\n" + added);
        assertThat(QemuSettings.parse("user = \"root\"\r\ngroup = \"root\"").withoutOwnCgroups())
                .isEqualTo("user = \"root\"\r\ngroup = \"root\"\r\n" + added);
        assertThat(QemuSettings.parse("user = \"root\"\r\ngroup = \"root\"\n").withoutOwnCgroups())
                .isEqualTo("user = \"root\"\r\ngroup = \"root\"\n" + COMMENT + "\ncgroup_controllers = [ ]\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "cgroup_controllers = [ \"cpu\" ]",
                "cgroup_controllers = [\"cpu\"]",
                "cgroup_controllers = [\n  # what we want\n  \"cpu\", # and no more ]\n]\n",
                "cgroup_controllers = [\r\n  'cpu',\r\n]\r\n",
                "cgroup_controllers = [ ]\ncgroup_controllers = [ \"cpu\" ]\n",
                "cgroup_controllers = [ \"cpu\" ]\ncgroup_controllers = [ ]\n",
            })
    void another_value_is_refused_by_name(String text) throws IOException {
        QemuSettings settings = QemuSettings.parse(text);
        assertThatThrownBy(settings::withoutOwnCgroups)
                .hasMessageContaining("cgroup_controllers = [\"cpu\"]")
                .hasMessageContaining("by hand");
        assertThat(settings.hasNoOwnCgroups()).isFalse();
    }

    @Test
    void the_refusal_names_the_line_and_what_is_no_list_too() throws IOException {
        assertThatThrownBy(() -> QemuSettings.parse("\n# a\ncgroup_controllers = \"cpu\"\n")
                        .withoutOwnCgroups())
                .hasMessageStartingWith("line 3 has cgroup_controllers = \"cpu\", with which");
        assertThatThrownBy(() -> QemuSettings.parse("cgroup_controllers = 0\n").withoutOwnCgroups())
                .hasMessageStartingWith("line 1 has cgroup_controllers = 0");
        assertThatThrownBy(() -> QemuSettings.parse("cgroup_controllers =\n").withoutOwnCgroups())
                .hasMessageStartingWith("line 1 has cgroup_controllers = ");
    }

    @Test
    void a_line_added_to_what_is_not_closed_would_be_in_it() {
        assertThatThrownBy(() -> QemuSettings.parse("a = 1\ncgroup_device_acl = [\n  \"/dev/null\",\n"))
                .isInstanceOf(IOException.class)
                .hasMessage("line 2: the list of cgroup_device_acl is not closed; add ]");
        assertThatThrownBy(() -> QemuSettings.parse("a = [ # ]"))
                .hasMessage("line 1: the list of a is not closed; add ]");
        assertThatThrownBy(() -> QemuSettings.parse("a = \"\"\"\nb = 1\n"))
                .hasMessage("line 1: the text of a is not closed; add \"\"\"");
    }

    @Test
    void values_have_one_form() throws IOException {
        QemuSettings settings = QemuSettings.parse("""
                one = 1# number
                text = 'a' # text
                list = [ 'a',
                  "b", 3,
                  ]
                one = 2
                """);
        assertThat(settings.values("one")).containsExactly("1", "2");
        assertThat(settings.values("text")).containsExactly("\"a\"");
        assertThat(settings.values("list")).containsExactly("[\"a\", \"b\", 3]");
    }
}
