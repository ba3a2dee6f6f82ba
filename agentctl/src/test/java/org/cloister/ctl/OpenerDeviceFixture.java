package org.cloister.ctl;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.cloister.ctl.key.Pem;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.ticket.Opening;
import org.cloister.transport.tls.PemCredentialFile;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A project with an opener's device and a member's, a site with a relay and a host, and the relay's end of links. */
@SuppressWarnings("NullAway") // what is missing shows as a failed test
abstract class OpenerDeviceFixture {
    @TempDir
    static Path folder;

    static ProjectFilesFixture project;
    static ProjectHistory history;

    LoopbackTicketRelay relay;
    Path epochs;
    private List<byte[]> lists;

    @BeforeAll
    static void found() throws IOException {
        project = new ProjectFilesFixture(folder);
        history = project.signed();
        out("project", "revoke", "--project", at("genesis"), "--key", at("ann.key"), "--list", at("ann.crl"));
        login("opener", "opener");
        // The member's takes its place.
        Files.copy(folder.resolve("cat.pem"), folder.resolve("cat-opener.pem"));
        login("member", "member");
        out("site", "init", "--site", at("ca"));
        enrol("relay", "r1");
        enrol("host", "h1");
    }

    private static void enrol(String role, String id) throws IOException {
        out("site", "enrol", "--site", at("ca"), "--role", role, "--token", at(id + ".token"), id);
        ProjectFilesFixture.out(project.cli.run(
                "site",
                "request",
                "--role",
                role,
                "--token",
                at(id + ".token"),
                "--machine-key",
                at(id + ".key"),
                "--out",
                at(id),
                id));
        out("site", "issue", "--site", at("ca"), at(id));
    }

    @AfterAll
    static void closeProject() throws IOException {
        project.close();
    }

    /** cat's, in a folder of its own. */
    static void login(String role, String into) throws IOException {
        ProjectFilesFixture.out(project.cli.runWithSecret(project.request("cat", role)));
        ProjectFilesFixture.out(
                project.cli.runWithSecret(ProjectFilesFixture.with(project.member(role), at("ann.key"))));
        out(
                "project",
                "login",
                "--project",
                at("genesis"),
                "--certificate",
                at("cat.pem"),
                "--key",
                at("cat.key"),
                "--folder",
                project.memory().resolve(into).toString());
    }

    static String at(String name) {
        return project.at(name);
    }

    static void out(String... arguments) throws IOException {
        ProjectFilesFixture.out(project.cli.runWithSecret(arguments));
    }

    @BeforeEach
    void serve() throws Exception {
        lists = List.of(
                Files.readAllBytes(folder.resolve("ca/revocations.crl")),
                Files.readAllBytes(folder.resolve("ann.crl")));
        relay = new LoopbackTicketRelay(credential("r1"), beliefs(), lists);
        epochs = Files.createTempDirectory(folder, "kept").resolve("below/epoch");
    }

    /** As of who has heard all lists. */
    static TrustStore beliefs() throws IOException {
        CertificateAuthority site = CertificateAuthority.load(
                Pem.read(folder.resolve("ca/authority.pem"), Pem.CERTIFICATE), message -> message, new SecureRandom());
        TrustStore trustStore = new TrustStore(
                TrustAnchors.none().withSite(List.of(site.key())).withProject(history),
                RevocationLists.none(),
                InstantSource.system());
        trustStore.addRevocationList(Files.readAllBytes(folder.resolve("ca/revocations.crl")));
        trustStore.addRevocationList(Files.readAllBytes(folder.resolve("ann.crl")));
        return trustStore;
    }

    static TlsCredential credential(String machine) throws IOException {
        return PemCredentialFile.read(folder.resolve(machine + ".pem"), folder.resolve(machine + ".key"));
    }

    @AfterEach
    void closeRelay() {
        relay.close();
    }

    String[] words(String command, String login, String... more) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("project", command, "--relay", relay.address()));
        arguments.addAll(List.of("--site", at("ca/authority.pem"), "--project", at("genesis")));
        arguments.addAll(List.of("--login", project.memory().resolve(login).toString()));
        arguments.addAll(Arrays.asList(more));
        return arguments.toArray(String[]::new);
    }

    String[] open(String... more) throws IOException {
        return Stream.concat(
                        Stream.of(words(
                                "open",
                                "opener",
                                "main",
                                "--cpus",
                                "2",
                                "--memory",
                                "4G",
                                "--days",
                                "2",
                                "--epoch-file",
                                epochs.toString())),
                        Stream.of(more))
                .toArray(String[]::new);
    }

    static CompletableFuture<Cli.Result> later(String... arguments) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return project.cli.run(arguments);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    Opening awaitOpening(int number) throws InterruptedException {
        while (relay.acceptedOpenings().size() < number) {
            Thread.sleep(20);
        }
        return relay.acceptedOpenings().get(number - 1);
    }
}
