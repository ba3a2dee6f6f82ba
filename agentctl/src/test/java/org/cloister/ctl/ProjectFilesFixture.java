package org.cloister.ctl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.cloister.base.encoding.BinaryText;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.ProjectHistory;
import org.jspecify.annotations.Nullable;

/**
 * A project with two owners, ann and ben, whose genesis ben has not signed yet, and cat, who has a key: as files, by agentctl.
 * Tests of a run start with copies of the same files, since a key's passphrase costs as much as it should.
 */
final class ProjectFilesFixture implements AutoCloseable {
    private static final String PASSPHRASE = "correct horse battery staple";
    private static final String GENESIS = "genesis";

    /** Key of {@link #template} for the genesis that ben has signed, too. */
    private static final String SIGNED = "genesis of both";

    /** Contents of the files that agentctl made once, by name. */
    private static @Nullable Map<String, byte[]> template;

    final Path folder;
    final Cli cli;
    private @Nullable Path memory;

    /** @param folder for the files of the project that most tests have */
    ProjectFilesFixture(Path folder) throws IOException {
        this(folder, template());
    }

    private ProjectFilesFixture(Path folder, Map<String, byte[]> files) throws IOException {
        this.folder = folder;
        for (Map.Entry<String, byte[]> file : files.entrySet()) {
            if (file.getKey().equals(SIGNED)) {
                continue;
            }
            Path copy = Files.write(folder.resolve(file.getKey()), file.getValue());
            if (file.getKey().endsWith(".key")) {
                Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rw-------"));
            }
        }
        cli = new Cli(folder, PASSPHRASE);
    }

    /** Makes another project. */
    static ProjectFilesFixture another(Path folder) throws IOException {
        ProjectFilesFixture made = new ProjectFilesFixture(folder, Map.of());
        for (String person : List.of("ann", "ben", "cat")) {
            out(made.cli.runWithSecret(
                    "project", "key", "--key", made.at(person + ".key"), "--out", made.at(person + ".pub")));
        }
        out(made.cli.runWithSecret(
                "project",
                "create",
                "--owner",
                "ann=" + made.at("ann.pub"),
                "--owner",
                "ben=" + made.at("ben.pub"),
                "--threshold",
                "2",
                "--key",
                made.at("ann.key"),
                "--out",
                made.at(GENESIS)));
        return made;
    }

    private static synchronized Map<String, byte[]> template() throws IOException {
        Map<String, byte[]> known = template;
        if (known == null) {
            Path folder = Files.createTempDirectory("cloister-test");
            try (ProjectFilesFixture first = another(folder)) {
                Map<String, byte[]> files = new HashMap<>();
                for (String name : List.of("ann.key", "ann.pub", "ben.key", "ben.pub", "cat.key", "cat.pub", GENESIS)) {
                    files.put(name, Files.readAllBytes(folder.resolve(name)));
                }
                first.sign();
                files.put(SIGNED, Files.readAllBytes(folder.resolve(GENESIS)));
                known = files;
                template = known;
            } finally {
                delete(folder);
            }
        }
        return known;
    }

    private static void delete(Path tree) throws IOException {
        try (Stream<Path> files = Files.walk(tree)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    @Override
    public void close() throws IOException {
        cli.close();
        if (memory != null) {
            delete(memory);
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

    /** Has ben sign the genesis. */
    ProjectHistory signed() throws IOException {
        Path genesis = folder.resolve(GENESIS);
        Map<String, byte[]> made = template();
        if (Arrays.equals(Files.readAllBytes(genesis), made.get(GENESIS))) {
            Files.write(genesis, made.get(SIGNED));
        } else {
            sign();
        }
        return ProjectHistory.fromGenesis(Files.readAllBytes(genesis));
    }

    private void sign() throws IOException {
        out(cli.runWithSecret("project", "sign", at(GENESIS), "--key", at("ben.key")));
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
