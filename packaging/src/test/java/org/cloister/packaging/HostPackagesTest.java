package org.cloister.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("ground")
class HostPackagesTest {
    private static final String JARS = "usr/share/cloister/agent-host";
    private static final String LAUNCHER = "usr/libexec/cloister/agent-host";
    private static final String ROOT_PART = "usr/libexec/cloister/agent-host-root";
    private static final Set<String> PROGRAMS = Set.of("/" + LAUNCHER, "/" + ROOT_PART, "/" + JARS + "/make-archive");
    private static final String CONFIG = "/etc/cloister/agent-host.toml";
    private static final String ARCHIVE = "/var/cache/cloister/agent-host.jsa";
    private static final String ROOT_CONFIG = "/etc/cloister/agent-host-root.conf";

    @TempDir
    static Path tree = Path.of("");

    @BeforeAll
    static void unpack() throws IOException, InterruptedException {
        Command.require("dpkg-deb", "dpkg");
        Command.require("rpm", "rpm");
        Command.of("dpkg-deb", "-x", Packages.HOST_DEB.toString(), tree.toString())
                .text();
    }

    @Test
    void deb_and_rpm_install_the_same_files() throws IOException, InterruptedException {
        Set<String> deb = new TreeSet<>();
        try (Stream<Path> files = Files.walk(tree)) {
            files.filter(Files::isRegularFile).forEach(file -> deb.add("/" + tree.relativize(file)));
        }
        Set<String> rpm = new TreeSet<>();
        for (String line : Command.of(
                        "rpm", "-qp", "--qf", "[%{FILEMODES:perms} %{FILENAMES}\n]", Packages.HOST_RPM.toString())
                .lines()) {
            String name = line.substring(line.indexOf(' ') + 1);
            if (line.startsWith("-")) {
                rpm.add(name);
                boolean program = line.substring(0, line.indexOf(' ')).endsWith("x");
                assertThat(program).as(line).isEqualTo(PROGRAMS.contains(name));
            }
        }
        // The DEB refers to Debian's own copy of the licence.
        assertThat(rpm.remove("/usr/share/licenses/cloister-agent-host/LICENSE"))
                .isTrue();
        assertThat(deb.remove("/usr/share/lintian/overrides/cloister-agent-host"))
                .isTrue();
        assertThat(rpm.remove(ARCHIVE)).as("made where it is installed").isTrue();
        assertThat(rpm).isEqualTo(deb);
        assertThat(deb)
                .contains(
                        "/usr/lib/systemd/system/agent-host.service",
                        "/usr/lib/systemd/system/agent-host-root.socket",
                        "/usr/lib/systemd/system/agent-host-root@.service",
                        "/usr/lib/systemd/system-preset/90-cloister-agent-host.preset",
                        "/usr/lib/sysusers.d/cloister-agent-host.conf",
                        "/usr/lib/tmpfiles.d/cloister-agent-host.conf",
                        CONFIG);
    }

    @Test
    void what_an_operator_has_written_into_the_configuration_outlives_an_upgrade()
            throws IOException, InterruptedException {
        assertThat(Command.of("dpkg-deb", "-I", Packages.HOST_DEB.toString(), "conffiles")
                        .lines())
                .containsExactlyInAnyOrder(CONFIG, ROOT_CONFIG);
        assertThat(Command.of(
                                "rpm",
                                "-qp",
                                "--qf",
                                "[%{FILEFLAGS:fflags} %{FILENAMES}\n]",
                                Packages.HOST_RPM.toString())
                        .lines())
                .contains("cn " + CONFIG, "cn " + ROOT_CONFIG);
        assertThat(Files.readAllBytes(tree.resolve(CONFIG.substring(1))))
                .isEqualTo(Files.readAllBytes(Packages.ROOT.resolve("packaging/src/agent-host/agent-host.toml")));
    }

    @Test
    void the_packages_need_a_headless_java_17_and_systemds_tools() throws IOException, InterruptedException {
        assertThat(Command.of("dpkg-deb", "-f", Packages.HOST_DEB.toString(), "Depends")
                        .text()
                        .strip())
                .isEqualTo("default-jre-headless (>= 2:1.17) | java17-runtime-headless, "
                        + "systemd | systemd-sysusers, systemd | systemd-tmpfiles");
        assertThat(Command.of("rpm", "-qp", "--requires", Packages.HOST_RPM.toString())
                        .lines())
                .filteredOn(need -> !need.startsWith("rpmlib("))
                .containsOnly("/bin/sh", "java-headless >= 1:17", "systemd");
    }

    @Test
    void the_launcher_names_exactly_the_jars_of_the_package_and_the_unit_names_the_launcher() throws IOException {
        String text = Files.readString(tree.resolve(LAUNCHER));
        assertThat(text).doesNotContain("[[").doesNotContain("@CLASS").doesNotContain("${host");
        String path = text.substring(text.indexOf("-cp \"") + 5);
        List<String> named = List.of(path.substring(0, path.indexOf('"')).split(":"));
        Set<String> jars = jars().stream().map(jar -> "/" + JARS + "/" + jar).collect(Collectors.toSet());
        assertThat(named).containsExactlyInAnyOrderElementsOf(jars);
        assertThat(named.get(0)).endsWith("/agent-host-" + Packages.VERSION + ".jar");
        assertThat(Files.readAllLines(tree.resolve("usr/lib/systemd/system/agent-host.service")))
                .anyMatch(line -> line.startsWith("ExecStart=/" + LAUNCHER + " "));
    }

    @Test
    void jnas_library_is_a_file_and_nothing_is_unpacked_into_tmp(@TempDir Path folder)
            throws IOException, InterruptedException {
        String natives = "usr/lib/cloister/agent-host";
        assertThat(Files.readString(tree.resolve(LAUNCHER)))
                .contains(" -Djna.boot.library.path=\"/" + natives + "/$(uname -m)\" ");
        for (String machine : List.of("x86_64", "aarch64")) {
            byte[] head =
                    Files.readAllBytes(tree.resolve(natives).resolve(machine).resolve("libjnidispatch.so"));
            assertThat(head).startsWith(0x7f, 'E', 'L', 'F');
        }
        Path probe = Files.writeString(folder.resolve("Probe.java"), """
                public class Probe {
                    public static void main(String[] args) {
                        System.out.println("pointers of " + com.sun.jna.Native.POINTER_SIZE);
                    }
                }""");
        // Below a file there is no folder and none can be made, so that unpacking would fail.
        String tmp = "-Djna.tmpdir=" + probe.resolve("none");
        String uname = Command.of("uname", "-m").text().strip();
        assertThat(loading(
                        probe,
                        tmp,
                        "-Djna.boot.library.path=" + tree.resolve(natives).resolve(uname)))
                .contains("pointers of 8");
        assertThat(loading(probe, tmp, "-Djna.boot.library.path=" + folder)).doesNotContain("pointers of");
    }

    private static String loading(Path probe, String... options) throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        words.addAll(List.of(options));
        words.addAll(List.of("-cp", tree.resolve(JARS) + "/*", probe.toString()));
        return Command.of(words.toArray(String[]::new)).run().text();
    }

    @Test
    void root_runs_nothing_that_the_daemons_user_could_have_written() throws IOException {
        String text = Files.readString(tree.resolve(ROOT_PART));
        assertThat(text)
                .contains("PATH=/usr/sbin:/usr/bin:/sbin:/bin")
                .doesNotContain("/var/lib")
                .doesNotContain("eval");
        assertThat(Files.readAllLines(tree.resolve(ROOT_CONFIG.substring(1))))
                .as("nothing is set as packaged")
                .allMatch(line -> line.isEmpty() || line.startsWith("#"));
    }

    @Test
    void the_host_has_no_cryptography_to_open_what_it_passes_on() throws IOException {
        assertThat(jars()).noneMatch(jar -> jar.startsWith("bc") || jar.startsWith("luks") || jar.startsWith("jnr"));
    }

    @Test
    void the_copyright_file_covers_every_jar_that_is_not_ours() throws IOException {
        List<String> patterns = Files.readAllLines(tree.resolve("usr/share/doc/cloister-agent-host/copyright")).stream()
                .filter(line -> line.startsWith("Files: " + JARS + "/"))
                .map(line -> line.substring(line.lastIndexOf('/') + 1, line.indexOf('*')))
                .toList();
        assertThat(jars().stream()
                        .filter(jar ->
                                !jar.matches("(agent-host|daemon|ovs-bridge|preflight|protocol|slurm-commands)-.*")))
                .allMatch(jar -> patterns.stream().anyMatch(jar::startsWith));
    }

    @Test
    void the_sbom_lists_every_jar() throws IOException {
        String sbom = Files.readString(tree.resolve("usr/share/doc/cloister-agent-host/sbom.json"));
        for (String jar : jars()) {
            assertThat(sbom).contains("/" + jar.replaceFirst("-([0-9][0-9A-Za-z.]*)\\.jar$", "@$1?type=jar") + "\"");
        }
    }

    private static Set<String> jars() throws IOException {
        try (Stream<Path> files = Files.list(tree.resolve(JARS))) {
            return files.map(file -> String.valueOf(file.getFileName()))
                    .filter(name -> name.endsWith(".jar"))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }
}
