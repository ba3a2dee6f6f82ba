package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.lab.Poll;
import org.cloister.lab.project.ProjectFixture;
import org.cloister.lab.site.SiteHosts;

/** Output of the lab's inspection of an open controlling VM by {@code lab/guest} and its script {@code console}. */
record ControllerInspection(List<String> lines) {
    /** What each line of it begins with. */
    static final String PREFIX = "look: ";

    private static final Pattern PROGRAM = Pattern.compile("users:\\(\\(\"([^\"]+)\"");
    private static final int LOCAL = 4;

    static ControllerInspection of(String report) {
        return new ControllerInspection(report.lines()
                .filter(line -> line.startsWith(PREFIX))
                .map(line -> line.substring(PREFIX.length()))
                .toList());
    }

    /** When a VM has printed a line that begins so. */
    static ControllerInspection await(ProjectFixture project, ResourceOwner vm, String last) throws IOException {
        String name = vm.names().domain();
        Poll.until(
                "a look around in " + name,
                SiteHosts.LIMIT.multipliedBy(6),
                "read its console",
                () -> of(project.site().consoles().of(name)).lines.stream().anyMatch(line -> line.startsWith(last)));
        return of(project.site().consoles().of(name));
    }

    /** What a command printed. */
    List<String> at(String command) {
        int at = lines.indexOf("$ " + command);
        assertThat(at).as(command + " in " + lines).isNotNegative();
        return lines.stream()
                .skip(at + 1L)
                .takeWhile(line -> !line.startsWith("$ "))
                .toList();
    }

    /** The project's daemons answer, on its drive, listen where they should and tell the time. */
    void assertWorks() {
        assertThat(at("systemctl is-active munge mariadb slurmdbd slurmctld"))
                .containsExactly("active", "active", "active", "active");
        assertThat(at("scontrol ping")).singleElement().asString().endsWith(" is UP");
        assertThat(at("sacctmgr -n -P list cluster format=cluster,controlhost"))
                .singleElement()
                .asString()
                .startsWith("project|");
        assertThat(at("findmnt -n -o TARGET,SOURCE,FSTYPE /project"))
                .singleElement()
                .asString()
                .matches("/project +/dev/mapper/cloister-drive +ext4");
        assertThat(at("findmnt -n -o FS-OPTIONS /project"))
                .singleElement()
                .asString()
                .contains("resgid=");
        assertListens();
        assertTellsTheTime();
    }

    /** The VM's own address: the one that is not the loopback's. */
    private String own() {
        return at("ip -o -4 address show").stream()
                .filter(line -> !line.contains("127.0.0.1"))
                .map(line -> line.replaceFirst(".* inet ([0-9.]+)/.*", "$1"))
                .collect(Collectors.joining());
    }

    /** As docs/image.md has it, "What listens": protocol, address, port, and who. */
    private void assertListens() {
        assertThat(at("ss -H -l -n -t -u -p").stream().map(this::listener))
                .containsExactlyInAnyOrder(
                        "udp 0.0.0.0:500 charon-systemd",
                        "udp 0.0.0.0:4500 charon-systemd",
                        "udp own:123 chronyd",
                        "tcp own:2049 the kernel",
                        "tcp 0.0.0.0:6817 slurmctld",
                        "tcp own:16817 java",
                        "tcp 0.0.0.0:6819 slurmdbd");
        assertThat(at("cat /proc/fs/nfsd/versions")).containsExactly("-3 +4 -4.0 -4.1 +4.2");
        assertThat(at("reach 127.0.0.1 6819")).containsExactly("reached");
        assertThat(at("reach " + own() + " 6819")).containsExactly("not reached");
        assertThat(at("reach " + own() + " 6817")).containsExactly("reached");
    }

    private String listener(String line) {
        String[] part = line.strip().split(" +", -1);
        Matcher program = PROGRAM.matcher(line);
        return part[0] + " " + part[LOCAL].replace(own() + ":", "own:") + " "
                + (program.find() ? program.group(1) : "the kernel");
    }

    /** One chronyd, which has given root up, and which another one believes. */
    private void assertTellsTheTime() {
        assertThat(at("ps -o user= -o args= -C chronyd"))
                .singleElement()
                .asString()
                .startsWith("_chrony ")
                .endsWith("-f /run/cloister/time/chrony.conf");
        assertThat(at("ask " + own() + " for the time")).anyMatch(line -> line.contains("System clock wrong by "));
    }
}
