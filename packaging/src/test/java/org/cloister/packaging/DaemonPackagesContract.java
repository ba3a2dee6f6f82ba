package org.cloister.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Requirements on the DEB and the RPM of each daemon. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class DaemonPackagesContract {
    /** What makes users and folders. */
    static final String TOOLS = "systemd | systemd-sysusers, systemd | systemd-tmpfiles";

    private final Daemon daemon;

    private Path tree = Path.of("");

    /**
     * A daemon.
     *
     * @param name such as {@code agent-relay}
     * @param programs beside its launcher, with a / in front
     * @param configurations with a / in front, the daemon's own first; none if it is configured otherwise
     * @param source of the daemon's own configuration, in the checkout
     * @param others files that have to be there beside what each daemon has
     * @param debs that the DEB needs beside Java
     * @param rpms that the RPM needs beside Java and systemd
     * @param made by the RPM where it is installed
     * @param ours a regular expression of the names of our own jars without their versions
     */
    record Daemon(
            String name,
            Path deb,
            Path rpm,
            Set<String> programs,
            List<String> configurations,
            Optional<String> source,
            List<String> others,
            String debs,
            List<String> rpms,
            Set<String> made,
            String ours) {
        String jars() {
            return "usr/share/cloister/" + name;
        }

        String launcher() {
            return "usr/libexec/cloister/" + name;
        }

        String natives() {
            return "usr/lib/cloister/" + name;
        }
    }

    DaemonPackagesContract(Daemon daemon) {
        this.daemon = daemon;
    }

    @BeforeAll
    void unpack(@TempDir Path folder) throws IOException, InterruptedException {
        PackagingCommand.require("dpkg-deb", "dpkg");
        PackagingCommand.require("rpm", "rpm");
        tree = folder;
        PackagingCommand.of("dpkg-deb", "-x", daemon.deb.toString(), tree.toString())
                .text();
    }

    @Test
    void deb_and_rpm_install_the_same_files() throws IOException, InterruptedException {
        Set<String> deb = new TreeSet<>();
        try (Stream<Path> files = Files.walk(tree)) {
            files.filter(Files::isRegularFile).forEach(file -> deb.add("/" + tree.relativize(file)));
        }
        Set<String> rpm = new TreeSet<>();
        for (String line : PackagingCommand.of(
                        "rpm", "-qp", "--qf", "[%{FILEMODES:perms} %{FILENAMES}\n]", daemon.rpm.toString())
                .lines()) {
            String name = line.substring(line.indexOf(' ') + 1);
            if (line.startsWith("-")) {
                rpm.add(name);
                boolean program = line.substring(0, line.indexOf(' ')).endsWith("x");
                assertThat(program)
                        .as(line)
                        .isEqualTo(name.equals("/" + daemon.launcher()) || daemon.programs.contains(name));
            }
        }
        String packaged = "cloister-" + daemon.name;
        // The DEB refers to Debian's own copy of the licence.
        assertThat(rpm.remove("/usr/share/licenses/" + packaged + "/LICENSE")).isTrue();
        assertThat(deb.remove("/usr/share/lintian/overrides/" + packaged)).isTrue();
        assertThat(rpm).containsAll(daemon.made);
        rpm.removeAll(daemon.made);
        assertThat(rpm).isEqualTo(deb);
        assertThat(deb)
                .contains(
                        "/usr/lib/systemd/system/" + daemon.name + ".service",
                        "/usr/lib/systemd/system-preset/90-" + packaged + ".preset",
                        "/usr/lib/tmpfiles.d/" + packaged + ".conf")
                .containsAll(daemon.others)
                .containsAll(daemon.programs)
                .containsAll(daemon.configurations);
    }

    @Test
    void what_an_operator_has_written_into_the_configuration_outlives_an_upgrade()
            throws IOException, InterruptedException {
        // A DEB without any has no such file.
        String conffiles = "dpkg-deb --ctrl-tarfile \"$1\" | tar -xO ./conffiles 2>/dev/null || true";
        assertThat(PackagingCommand.of("sh", "-c", conffiles, "sh", daemon.deb.toString())
                        .lines())
                .containsExactlyInAnyOrderElementsOf(daemon.configurations);
        assertThat(PackagingCommand.of(
                                "rpm", "-qp", "--qf", "[%{FILEFLAGS:fflags} %{FILENAMES}\n]", daemon.rpm.toString())
                        .lines())
                .containsAll(
                        daemon.configurations.stream().map(file -> "cn " + file).toList());
        if (daemon.source.isPresent()) {
            assertThat(Files.readAllBytes(unpacked(daemon.configurations.get(0))))
                    .isEqualTo(Files.readAllBytes(BuiltPackages.ROOT.resolve(daemon.source.get())));
        }
    }

    @Test
    void the_packages_need_a_headless_java_17_and_systemds_tools() throws IOException, InterruptedException {
        assertThat(PackagingCommand.of("dpkg-deb", "-f", daemon.deb.toString(), "Depends")
                        .text()
                        .strip())
                .isEqualTo("default-jre-headless (>= 2:1.17) | java17-runtime-headless, " + daemon.debs);
        List<String> rpms = new ArrayList<>(List.of("/bin/sh", "java-headless >= 1:17", "systemd"));
        rpms.addAll(daemon.rpms);
        assertThat(PackagingCommand.of("rpm", "-qp", "--requires", daemon.rpm.toString())
                        .lines())
                .filteredOn(requirement -> !requirement.startsWith("rpmlib("))
                .hasSameElementsAs(rpms);
    }

    @Test
    void the_launcher_names_exactly_the_jars_of_the_package_and_the_unit_names_the_launcher() throws IOException {
        String text = Files.readString(tree.resolve(daemon.launcher()));
        assertThat(text).doesNotContain("[[").doesNotContain("@CLASS").doesNotContain("${");
        String path = text.substring(text.indexOf("-cp \"") + 5);
        List<String> named = List.of(path.substring(0, path.indexOf('"')).split(":"));
        Set<String> jars =
                jars().stream().map(jar -> "/" + daemon.jars() + "/" + jar).collect(Collectors.toSet());
        assertThat(named).containsExactlyInAnyOrderElementsOf(jars);
        assertThat(named.get(0)).endsWith("/" + daemon.name + "-" + BuiltPackages.VERSION + ".jar");
        assertThat(Files.readAllLines(tree.resolve("usr/lib/systemd/system/" + daemon.name + ".service")))
                .anyMatch(line -> line.startsWith("ExecStart=/" + daemon.launcher() + " "));
    }

    @Test
    void the_copyright_file_covers_every_jar_that_is_not_ours() throws IOException {
        List<String> patterns =
                Files.readAllLines(tree.resolve("usr/share/doc/cloister-" + daemon.name + "/copyright")).stream()
                        .filter(line -> line.startsWith("Files: " + daemon.jars() + "/"))
                        .map(line -> line.substring(line.lastIndexOf('/') + 1, line.indexOf('*')))
                        .toList();
        assertThat(jars().stream().filter(jar -> !jar.matches("(" + daemon.ours + ")-.*")))
                .allMatch(jar -> patterns.stream().anyMatch(jar::startsWith));
    }

    @Test
    void the_sbom_lists_every_jar() throws IOException {
        String sbom = Files.readString(tree.resolve("usr/share/doc/cloister-" + daemon.name + "/sbom.json"));
        for (String jar : jars()) {
            assertThat(sbom)
                    .contains("/"
                            + jar.replaceFirst("-([0-9][0-9A-Za-z.]*)-native\\.jar$", "@$1?classifier=native&type=jar")
                                    .replaceFirst("-([0-9][0-9A-Za-z.]*)\\.jar$", "@$1?type=jar")
                            + "\"");
        }
    }

    /** The daemon passes on what it has no keys to. */
    void requireNoCryptography() throws IOException {
        assertThat(jars()).noneMatch(jar -> jar.startsWith("bc") || jar.startsWith("luks") || jar.startsWith("jnr"));
    }

    private Set<String> jars() throws IOException {
        try (Stream<Path> files = Files.list(tree.resolve(daemon.jars()))) {
            return files.map(file -> String.valueOf(file.getFileName()))
                    .filter(name -> name.endsWith(".jar"))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    /**
     * The daemon's launcher passes a native library's folder, which the package has for each kind of machine.
     *
     * @param property of Java, by which the library is found
     */
    void requireNatives(String property, String library) throws IOException {
        assertThat(Files.readString(tree.resolve(daemon.launcher())))
                .contains(" -D" + property + "=\"/" + daemon.natives() + "/$(uname -m)\" ");
        for (String machine : List.of("x86_64", "aarch64")) {
            byte[] head = Files.readAllBytes(
                    tree.resolve(daemon.natives()).resolve(machine).resolve(library));
            assertThat(head).startsWith(0x7f, 'E', 'L', 'F');
        }
    }

    /** Of this machine. */
    Path natives() throws IOException, InterruptedException {
        return tree.resolve(daemon.natives())
                .resolve(PackagingCommand.of("uname", "-m").text().strip());
    }

    /** What a program says that runs with the package's jars. */
    String saying(Path program, List<String> options, String... arguments) throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        words.addAll(options);
        words.addAll(List.of("-cp", tree.resolve(daemon.jars()) + "/*", program.toString()));
        words.addAll(List.of(arguments));
        return PackagingCommand.of(words.toArray(String[]::new)).run().text();
    }

    /** @param name with a / in front */
    Path unpacked(String name) {
        return tree.resolve(name.substring(1));
    }
}
