package org.cloister.ctl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.cloister.base.encoding.BinaryText;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.ProjectHistory;
import org.jspecify.annotations.Nullable;

/** A project with two owners, ann and ben, whose genesis ben has not signed yet, and cat, who has a key: as files, by agentctl. */
final class ProjectFilesFixture implements AutoCloseable {
    final Path folder;
    final Cli cli;
    private @Nullable Path memory;

    ProjectFilesFixture(Path folder) throws IOException {
        this.folder = folder;
        cli = new Cli(folder, "correct horse battery staple");
        for (String person : List.of("ann", "ben", "cat")) {
            out(cli.runWithSecret("project", "key", "--key", at(person + ".key"), "--out", at(person + ".pub")));
        }
        out(cli.runWithSecret(
                "project",
                "create",
                "--owner",
                "ann=" + at("ann.pub"),
                "--owner",
                "ben=" + at("ben.pub"),
                "--threshold",
                "2",
                "--key",
                at("ann.key"),
                "--out",
                at("genesis")));
    }

    @Override
    public void close() throws IOException {
        cli.close();
        if (memory != null) {
            try (Stream<Path> files = Files.walk(memory)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }

    String at(String name) {
        return folder.resolve(name).toString();
    }

    static String out(Cli.Result result) {
        assertThat(result.err()).isEmpty();
        assertThat(result.status()).isZero();
        return result.out();
    }

    static void refused(Cli.Result result, String why) {
        assertThat(result.err()).contains(why);
        assertThat(result.status()).isEqualTo(2);
    }

    String keyId(String publicHalf) throws IOException {
        return VerificationKey.parse(BinaryText.fromBase64(
                        Files.readString(folder.resolve(publicHalf)).replaceAll("-----[A-Z ]+-----|\n", ""), 200))
                .id();
    }

    String[] request(String person, String role) {
        return new String[] {
            "project",
            "request",
            "--project",
            at("genesis"),
            "--role",
            role,
            "--out",
            at(person + ".request"),
            person,
            "--key",
            at(person + ".key")
        };
    }

    /** The file of the owner's key follows. */
    String[] member(String role) {
        return new String[] {
            "project",
            "member",
            "--project",
            at("genesis"),
            "--role",
            role,
            "--out",
            at("cat.pem"),
            at("cat.request"),
            "--key"
        };
    }

    ProjectHistory signed() throws IOException {
        out(cli.runWithSecret("project", "sign", at("genesis"), "--key", at("ben.key")));
        return ProjectHistory.fromGenesis(Files.readAllBytes(folder.resolve("genesis")));
    }

    static String[] with(String[] arguments, String more) {
        String[] all = Arrays.copyOf(arguments, arguments.length + 1);
        all[arguments.length] = more;
        return all;
    }

    /** A folder of the test on a tmpfs. */
    Path memory() throws IOException {
        Path made = memory;
        if (made == null) {
            made = Files.createTempDirectory(Path.of("/dev/shm"), "cloister-test");
            memory = made;
        }
        return made;
    }
}
