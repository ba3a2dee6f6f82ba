package org.cloister.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("ground")
class AgentctlPackagesTest {
    private static final String JARS = "usr/share/cloister/agentctl";

    @TempDir
    static Path tree = Path.of("");

    @BeforeAll
    static void unpack() throws IOException, InterruptedException {
        PackagingCommand.require("dpkg-deb", "dpkg");
        PackagingCommand.require("rpm", "rpm");
        PackagingCommand.of("dpkg-deb", "-x", BuiltPackages.DEB.toString(), tree.toString())
                .text();
    }

    @Test
    void the_deb_needs_a_headless_java_17_and_nothing_else() throws IOException, InterruptedException {
        assertThat(field("Package")).isEqualTo("cloister-agentctl");
        assertThat(field("Version")).isEqualTo(BuiltPackages.VERSION);
        assertThat(field("Architecture")).isEqualTo("all");
        assertThat(field("Depends")).isEqualTo("default-jre-headless (>= 2:1.17) | java17-runtime-headless");
        assertThat(field("Maintainer")).isEqualTo("Cloister maintainers <maintainers@cloister.invalid>");
    }

    @Test
    void the_rpm_needs_a_headless_java_17_and_a_shell() throws IOException, InterruptedException {
        assertThat(rpm("%{NAME} %{VERSION} %{RELEASE} %{ARCH} %{LICENSE} %{BUILDHOST}"))
                .isEqualTo("cloister-agentctl " + BuiltPackages.VERSION
                        + " 1 noarch Apache-2.0 AND MIT AND BSD-3-Clause localhost");
        List<String> requirements =
                PackagingCommand.of("rpm", "-qp", "--requires", BuiltPackages.RPM.toString()).lines().stream()
                        .filter(requirement -> !requirement.startsWith("rpmlib("))
                        .toList();
        // Each script of the package names its shell.
        assertThat(requirements).containsOnly("/bin/sh", "java-headless >= 1:17");
    }

    @Test
    void what_opens_drives_is_recommended_and_jffis_library_a_file() throws IOException, InterruptedException {
        assertThat(field("Recommends")).isEqualTo("libargon2-1, libssl3 | libssl3t64");
        assertThat(Files.readString(tree.resolve("usr/bin/agentctl")))
                .contains("-Djffi.boot.library.path=/usr/lib/cloister/agentctl/$(uname -m)");
        for (String machine : List.of("x86_64", "aarch64")) {
            assertThat(Files.readAllBytes(tree.resolve("usr/lib/cloister/agentctl/" + machine + "/libjffi-1.2.so")))
                    .startsWith(0x7f, 'E', 'L', 'F');
        }
    }

    @Test
    void every_file_is_roots_of_the_builds_time_and_of_the_right_mode() throws IOException, InterruptedException {
        Instant time = Instant.parse(BuiltPackages.property("cloister.timestamp"));
        Set<String> programs = new TreeSet<>();
        for (String line : PackagingCommand.of("dpkg-deb", "-c", BuiltPackages.DEB.toString())
                .lines()) {
            String[] column = line.split(" +", 6);
            assertThat(column[1]).as(line).isEqualTo("root/root");
            assertThat(column[3] + "T" + column[4] + ":00Z").as(line).isEqualTo(time.toString());
            if (column[0].startsWith("-rwx")) {
                assertThat(column[0]).as(line).isEqualTo("-rwxr-xr-x");
                programs.add(column[5]);
            } else {
                assertThat(column[0]).as(line).isIn("-rw-r--r--", "drwxr-xr-x");
            }
        }
        assertThat(programs)
                .containsExactly(
                        "./usr/bin/agentctl",
                        "./usr/libexec/cloister/site-serve",
                        "./usr/share/cloister/agentctl/make-archive");
    }

    @Test
    void deb_and_rpm_install_the_same_files() throws IOException, InterruptedException {
        Set<String> deb = new TreeSet<>();
        try (Stream<Path> files = Files.walk(tree)) {
            files.filter(Files::isRegularFile).forEach(file -> deb.add("/" + tree.relativize(file)));
        }
        Set<String> rpm = new TreeSet<>();
        for (String line : PackagingCommand.of(
                        "rpm", "-qp", "--qf", "[%{FILEMODES:perms} %{FILENAMES}\n]", BuiltPackages.RPM.toString())
                .lines()) {
            String mode = line.substring(0, line.indexOf(' '));
            String name = line.substring(line.indexOf(' ') + 1);
            if (mode.startsWith("-")) {
                rpm.add(name);
                assertThat(mode.endsWith("x")).as(line).isEqualTo(Files.isExecutable(tree.resolve(name.substring(1))));
            }
        }
        // The DEB refers to Debian's own copy of the licence; the archive is the RPM's by name alone.
        assertThat(rpm.remove("/usr/share/licenses/cloister-agentctl/LICENSE")).isTrue();
        assertThat(rpm.remove(BuiltPackages.ARCHIVE)).isTrue();
        assertThat(deb.remove("/usr/share/lintian/overrides/cloister-agentctl")).isTrue();
        assertThat(rpm).isEqualTo(deb);
        assertThat(deb)
                .contains("/usr/share/man/man1/agentctl.1.gz", "/usr/share/bash-completion/completions/agentctl")
                .contains("/usr/lib/systemd/system/cloister-site-serve.service")
                .contains("/usr/lib/systemd/system-preset/90-cloister-agentctl.preset");
    }

    @Test
    void the_launcher_names_exactly_the_jars_of_the_package() throws IOException {
        for (String script : List.of("usr/bin/agentctl", JARS + "/make-archive")) {
            String text = Files.readString(tree.resolve(script));
            assertThat(text).as(script).doesNotContain("[[").doesNotContain("${agentctl");
            String path = text.substring(text.indexOf("-cp \"") + 5);
            List<String> named = List.of(path.substring(0, path.indexOf('"')).split(":"));
            Set<String> jars =
                    jars().stream().map(jar -> "/" + JARS + "/" + jar).collect(Collectors.toSet());
            assertThat(named).as(script).containsExactlyInAnyOrderElementsOf(jars);
            assertThat(named.get(0)).contains("/agentctl-" + BuiltPackages.VERSION + ".jar");
        }
    }

    @Test
    void the_sbom_lists_every_jar_and_no_time_or_serial_number() throws IOException {
        String sbom = Files.readString(tree.resolve("usr/share/doc/cloister-agentctl/sbom.json"));
        for (String jar : jars()) {
            String name = jar.replaceFirst("-([0-9][0-9A-Za-z.]*)-native\\.jar$", "@$1?classifier=native&type=jar")
                    .replaceFirst("-([0-9][0-9A-Za-z.]*)\\.jar$", "@$1?type=jar");
            assertThat(sbom).contains("/" + name + "\"");
        }
        assertThat(sbom).doesNotContain("\"timestamp\"").doesNotContain("\"serialNumber\"");
    }

    @Test
    void the_copyright_file_covers_every_jar_that_is_not_ours() throws IOException {
        String copyright = Files.readString(tree.resolve("usr/share/doc/cloister-agentctl/copyright"));
        for (String jar : jars()) {
            if (!jar.matches(
                    "(agentctl|audit-log|base|luks-keyops|ovs-bridge|preflight|protocol|slurm-commands|strongswan-conf|transport)-.*")) {
                assertThat(copyright.lines().filter(line -> line.startsWith("Files: " + JARS + "/")))
                        .as(jar)
                        .anyMatch(line -> covers(line, jar));
            }
        }
    }

    private static boolean covers(String line, String jar) {
        String pattern = line.substring(line.lastIndexOf('/') + 1);
        return jar.startsWith(pattern.substring(0, pattern.indexOf('*')));
    }

    @Test
    void the_changelog_opens_with_the_version_of_the_build() throws IOException {
        Path file = tree.resolve("usr/share/doc/cloister-agentctl/changelog.gz");
        try (InputStream in = new GZIPInputStream(Files.newInputStream(file))) {
            assertThat(new String(in.readAllBytes(), StandardCharsets.UTF_8))
                    .startsWith("cloister (" + BuiltPackages.VERSION + ") ");
        }
    }

    @Test
    void no_file_names_the_folder_it_was_built_in() throws IOException {
        byte[] folder = BuiltPackages.ROOT.toString().getBytes(StandardCharsets.UTF_8);
        List<String> found = new ArrayList<>();
        try (Stream<Path> files = Files.walk(tree)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                if (contains(Files.readAllBytes(file), folder)) {
                    found.add(file.toString());
                }
                if (file.toString().endsWith(".jar")) {
                    searchJar(file, folder, found);
                }
            }
        }
        assertThat(found).isEmpty();
    }

    private static void searchJar(Path jar, byte[] folder, List<String> found) throws IOException {
        try (ZipInputStream zip = new ZipInputStream(Files.newInputStream(jar))) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                zip.transferTo(bytes);
                if (contains(bytes.toByteArray(), folder)) {
                    found.add(jar + "!" + entry.getName());
                }
            }
        }
    }

    private static boolean contains(byte[] bytes, byte[] part) {
        return new String(bytes, StandardCharsets.ISO_8859_1).contains(new String(part, StandardCharsets.ISO_8859_1));
    }

    private static Set<String> jars() throws IOException {
        try (Stream<Path> files = Files.list(tree.resolve(JARS))) {
            return files.map(file -> String.valueOf(file.getFileName()))
                    .filter(name -> name.endsWith(".jar"))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    private static String field(String name) throws IOException, InterruptedException {
        return PackagingCommand.of("dpkg-deb", "-f", BuiltPackages.DEB.toString(), name)
                .text()
                .strip();
    }

    private static String rpm(String format) throws IOException, InterruptedException {
        return PackagingCommand.of("rpm", "-qp", "--qf", format, BuiltPackages.RPM.toString())
                .text();
    }
}
