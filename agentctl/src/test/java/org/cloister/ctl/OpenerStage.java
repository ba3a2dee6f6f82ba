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
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Authority;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.PemCredential;
import org.cloister.protocol.ticket.Opening;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A project with an opener's device and a member's, a site with a relay and a host, and the relay's end of links. */
@SuppressWarnings("NullAway") // what is missing shows as a failed test
abstract class OpenerStage {
    @TempDir
    static Path folder;

    static OwnedProject project;
    static ProjectHistory history;

    MiniOffice relay;
    Path epochs;
    private List<byte[]> lists;

    @BeforeAll
    static void found() throws IOException {
        project = new OwnedProject(folder);
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
        OwnedProject.out(project.cli.run(
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
    static void end() throws IOException {
        project.close();
    }

    /** cat's, in a folder of its own. */
    static void login(String role, String into) throws IOException {
        OwnedProject.out(project.cli.runWithSecret(project.request("cat", role)));
        OwnedProject.out(project.cli.runWithSecret(OwnedProject.with(project.member(role), at("ann.key"))));
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

    static void out(String... words) throws IOException {
        OwnedProject.out(project.cli.runWithSecret(words));
    }

    @BeforeEach
    void serve() throws Exception {
        lists = List.of(
                Files.readAllBytes(folder.resolve("ca/revocations.crl")),
                Files.readAllBytes(folder.resolve("ann.crl")));
        relay = new MiniOffice(credential("r1"), beliefs(), lists);
        epochs = Files.createTempDirectory(folder, "kept").resolve("below/epoch");
    }

    /** As of who has heard all lists. */
    static Beliefs beliefs() throws IOException {
        Authority site = Authority.load(
                Pem.read(folder.resolve("ca/authority.pem"), Pem.CERTIFICATE), message -> message, new SecureRandom());
        Beliefs beliefs = new Beliefs(
                Anchors.none().withSite(List.of(site.key())).withProject(history),
                RevocationLists.none(),
                InstantSource.system());
        beliefs.take(Files.readAllBytes(folder.resolve("ca/revocations.crl")));
        beliefs.take(Files.readAllBytes(folder.resolve("ann.crl")));
        return beliefs;
    }

    static Credential credential(String machine) throws IOException {
        return PemCredential.read(folder.resolve(machine + ".pem"), folder.resolve(machine + ".key"));
    }

    @AfterEach
    void leave() {
        relay.close();
    }

    String[] words(String command, String login, String... more) throws IOException {
        List<String> words = new ArrayList<>(List.of("project", command, "--relay", relay.address()));
        words.addAll(List.of("--site", at("ca/authority.pem"), "--project", at("genesis")));
        words.addAll(List.of("--login", project.memory().resolve(login).toString()));
        words.addAll(Arrays.asList(more));
        return words.toArray(String[]::new);
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

    static CompletableFuture<Cli.Result> later(String... words) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return project.cli.run(words);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    Opening taken(int number) throws InterruptedException {
        while (relay.taken().size() < number) {
            Thread.sleep(20);
        }
        return relay.taken().get(number - 1);
    }
}
