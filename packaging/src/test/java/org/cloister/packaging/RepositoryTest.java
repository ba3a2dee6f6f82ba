package org.cloister.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads what {@code packaging/repository} makes with apt and dnf, over HTTP. */
@Tag("ground")
class RepositoryTest {
    @TempDir
    Path folder;

    private Path repositories;
    private HttpServer web;

    @BeforeEach
    void publish() throws IOException, InterruptedException {
        for (String program : List.of("reprepro", "dnf", "gpg")) {
            PackagingCommand.require(program, program);
        }
        PackagingCommand.require("createrepo_c", "createrepo-c");
        repositories = folder.resolve("served");
        web = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        web.createContext("/", exchange -> {
            Path file = repositories
                    .resolve("." + exchange.getRequestURI().getPath())
                    .normalize();
            boolean there = file.startsWith(repositories) && Files.isRegularFile(file);
            exchange.sendResponseHeaders(there ? 200 : 404, there ? Files.size(file) : -1);
            if (there) {
                Files.copy(file, exchange.getResponseBody());
            }
            exchange.close();
        });
        web.start();
        Files.createDirectory(
                folder.resolve("gpg"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        gpg("--quick-generate-key", "packages@example.org", "rsa3072", "sign", "never")
                .text();
        repository().text();
    }

    @AfterEach
    void stop() throws IOException, InterruptedException {
        web.stop(0);
        PackagingCommand.of("gpgconf", "--kill", "all")
                .with("GNUPGHOME", folder.resolve("gpg").toString())
                .text();
    }

    @Test
    void apt_finds_the_packages_by_the_source_that_it_brings() throws IOException, InterruptedException {
        assertThat(apt("update").text()).doesNotContain("W:", "E:");
        assertThat(apt("policy", "cloister-agent-host").text()).contains("Candidate: " + BuiltPackages.VERSION);
        assertThat(apt("download", "cloister-agentctl").in(folder).run().status())
                .isZero();
    }

    @Test
    void apt_refuses_an_index_that_was_changed() throws IOException, InterruptedException {
        Path index = repositories.resolve("apt/dists/cloister/InRelease");
        Files.writeString(index, Files.readString(index).replace("Origin: Cloister", "Origin: Somebody"));
        PackagingCommand.Result refused = apt("update").run();
        assertThat(refused.status()).isNotZero();
        assertThat(refused.text()).contains("BADSIG");
        assertThat(apt("policy", "cloister-agent-host").text()).doesNotContain("Candidate: " + BuiltPackages.VERSION);
    }

    @Test
    void dnf_finds_the_packages_and_accepts_their_signatures() throws IOException, InterruptedException {
        assertThat(dnf("repoquery", "cloister-agent-host").text())
                .contains("cloister-agent-host-0:" + BuiltPackages.VERSION + "-1.noarch");
        Path keys = Files.createDirectory(folder.resolve("keys"));
        rpmkeys(keys, "--import", repositories.resolve("cloister.asc").toString())
                .text();
        try (Stream<Path> files = Files.list(repositories.resolve("rpm"))) {
            for (Path rpm :
                    files.filter(file -> file.toString().endsWith(".rpm")).toList()) {
                assertThat(rpmkeys(keys, "--checksig", "--verbose", rpm.toString())
                                .text())
                        .contains("Header V4 RSA/SHA512 Signature")
                        .doesNotContain("NOKEY");
            }
        }
    }

    @Test
    void dnf_refuses_an_index_that_was_changed() throws IOException, InterruptedException {
        Path index = repositories.resolve("rpm/repodata/repomd.xml");
        Files.writeString(index, Files.readString(index) + "\n");
        PackagingCommand.Result refused =
                dnf("repoquery", "cloister-agent-host").run();
        assertThat(refused.status()).isNotZero();
        assertThat(refused.text()).contains("Bad GPG signature");
    }

    @Test
    void a_version_that_was_published_stays_as_it_is() throws IOException, InterruptedException {
        List<Path> before = published();
        List<Long> written = timesOf(before);
        repository().text();
        assertThat(published()).isEqualTo(before);
        assertThat(timesOf(before)).isEqualTo(written);
        Path other = Files.copy(BuiltPackages.DEB, folder.resolve(BuiltPackages.HOST_DEB.getFileName()));
        PackagingCommand.Result refused = repository(other.toString()).run();
        assertThat(refused.status()).isEqualTo(1);
        assertThat(refused.text()).contains(other + ": this version is published with other content");
    }

    @Test
    void a_key_that_gpg_does_not_have_is_named() throws IOException, InterruptedException {
        PackagingCommand.Result refused = command(
                        "--key", "nobody@example.org", "--out", repositories.toString(), "--url", "http://localhost/")
                .run();
        assertThat(refused.status()).isEqualTo(1);
        assertThat(refused.text()).contains("key nobody@example.org: gpg has no secret key of this name");
    }

    private PackagingCommand repository(String... packages) {
        List<String> words = new ArrayList<>(List.of(
                "--key",
                "packages@example.org",
                "--out",
                repositories.toString(),
                "--url",
                "http://127.0.0.1:" + web.getAddress().getPort() + "/"));
        if (packages.length == 0) {
            words.addAll(Stream.of(
                            BuiltPackages.DEB,
                            BuiltPackages.HOST_DEB,
                            BuiltPackages.RELAY_DEB,
                            BuiltPackages.RPM,
                            BuiltPackages.HOST_RPM)
                    .map(Path::toString)
                    .toList());
        }
        words.addAll(List.of(packages));
        return command(words.toArray(String[]::new));
    }

    private PackagingCommand command(String... words) {
        List<String> argv = new ArrayList<>(
                List.of(BuiltPackages.ROOT.resolve("packaging/repository").toString()));
        argv.addAll(List.of(words));
        return PackagingCommand.of(argv.toArray(String[]::new))
                .with("GNUPGHOME", folder.resolve("gpg").toString());
    }

    private PackagingCommand gpg(String... words) {
        List<String> argv = new ArrayList<>(List.of("gpg", "--batch", "--quiet", "--passphrase", ""));
        argv.addAll(List.of(words));
        return PackagingCommand.of(argv.toArray(String[]::new))
                .with("GNUPGHOME", folder.resolve("gpg").toString());
    }

    /** apt with folders of its own, and the source of the repository alone. */
    private PackagingCommand apt(String verb, String... words) throws IOException {
        Path state = folder.resolve("apt");
        for (String below : List.of("etc/sources.list.d", "lists/partial", "cache/archives/partial")) {
            Files.createDirectories(state.resolve(below));
        }
        Files.writeString(state.resolve("status"), "");
        Files.writeString(
                state.resolve("etc/sources.list.d/cloister.sources"),
                Files.readString(repositories.resolve("cloister.sources")));
        List<String> argv = new ArrayList<>(List.of(
                "apt-" + (verb.equals("policy") ? "cache" : "get"),
                "-o",
                "Dir::Etc=" + state.resolve("etc"),
                "-o",
                "Dir::State::lists=" + state.resolve("lists"),
                "-o",
                "Dir::State::status=" + state.resolve("status"),
                "-o",
                "Dir::Cache=" + state.resolve("cache"),
                "-o",
                "Acquire::http::Proxy=DIRECT",
                "-o",
                "APT::Sandbox::User=root",
                verb));
        argv.addAll(List.of(words));
        return PackagingCommand.of(argv.toArray(String[]::new));
    }

    private PackagingCommand dnf(String... words) throws IOException {
        Path sources = Files.createDirectories(folder.resolve("dnf/repos"));
        Files.writeString(sources.resolve("cloister.repo"), Files.readString(repositories.resolve("cloister.repo")));
        List<String> argv = new ArrayList<>(List.of(
                "dnf",
                "--assumeyes",
                "--quiet",
                "--installroot=" + folder.resolve("dnf/root"),
                "--releasever=9",
                "--setopt=reposdir=" + sources,
                "--setopt=proxy="));
        argv.addAll(List.of(words));
        return PackagingCommand.of(argv.toArray(String[]::new));
    }

    private PackagingCommand rpmkeys(Path keys, String... words) {
        List<String> argv = new ArrayList<>(List.of("rpmkeys", "--dbpath", keys.toString()));
        argv.addAll(List.of(words));
        return PackagingCommand.of(argv.toArray(String[]::new));
    }

    private List<Path> published() throws IOException {
        try (Stream<Path> files = Files.walk(repositories)) {
            return files.filter(file -> file.toString().matches(".*\\.(deb|rpm)"))
                    .sorted()
                    .toList();
        }
    }

    private static List<Long> timesOf(List<Path> files) throws IOException {
        List<Long> times = new ArrayList<>();
        for (Path file : files) {
            times.add(Files.getLastModifiedTime(file).toMillis());
        }
        return times;
    }
}
