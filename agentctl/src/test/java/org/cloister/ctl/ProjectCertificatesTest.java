package org.cloister.ctl;

import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.cloister.ctl.key.LoginFolder;
import org.cloister.ctl.key.Pem;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRequest;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Certificates of a project, from a person's request to the chain that a VM receives. */
class ProjectCertificatesTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init")
    private ProjectFilesFixture project;

    @BeforeEach
    void open() throws IOException {
        project = new ProjectFilesFixture(folder);
    }

    @AfterEach
    void close() throws IOException {
        project.close();
    }

    @Test
    void an_owner_gives_what_is_asked_and_nothing_else() throws Exception {
        project.signed();
        ProjectFilesFixture.out(project.cli.runWithSecret(project.request("cat", "exporter")));
        ProjectFilesFixture.refused(
                project.cli.runWithSecret(ProjectFilesFixture.with(project.member("member"), project.at("ann.key"))),
                "asks for [exporter], --role gives [member]");
        ProjectFilesFixture.refused(
                project.cli.runWithSecret(project.request("cat", "owner")),
                "want the role opener, member or exporter, have owner");
        String request = Files.readString(folder.resolve("cat.request"));
        Files.writeString(folder.resolve("cat.request"), request + request);
        ProjectFilesFixture.refused(
                project.cli.runWithSecret(ProjectFilesFixture.with(project.member("exporter"), project.at("ann.key"))),
                "want each role once");
        ProjectFilesFixture.out(project.cli.runWithSecret(project.request("ben", "member")));
        Files.writeString(folder.resolve("cat.request"), request + Files.readString(folder.resolve("ben.request")));
        ProjectFilesFixture.refused(
                project.cli.runWithSecret(ProjectFilesFixture.with(project.member("exporter"), project.at("ann.key"))),
                "want requests of one person");
        char[] altered = request.toCharArray();
        altered[300] = altered[300] == 'A' ? 'B' : 'A';
        Files.writeString(folder.resolve("cat.request"), new String(altered));
        ProjectFilesFixture.refused(
                project.cli.runWithSecret(ProjectFilesFixture.with(project.member("exporter"), project.at("ann.key"))),
                project.at("cat.request"));
        Files.writeString(folder.resolve("cat.request"), "nothing");
        ProjectFilesFixture.refused(
                project.cli.runWithSecret(ProjectFilesFixture.with(project.member("exporter"), project.at("ann.key"))),
                "want blocks CERTIFICATE REQUEST");
        assertThat(folder.resolve("cat.pem")).doesNotExist();
    }

    @Test
    void a_person_logs_in_with_certificates_of_a_day_that_hold_below_the_owners() throws Exception {
        ProjectHistory history = project.signed();
        String[] request = project.request("cat", "member");
        ProjectFilesFixture.out(project.cli.runWithSecret(
                ProjectFilesFixture.with(ProjectFilesFixture.with(request, "--role"), "opener")));
        ProjectFilesFixture.out(project.cli.runWithSecret(ProjectFilesFixture.with(
                ProjectFilesFixture.with(
                        ProjectFilesFixture.with(project.member("member"), project.at("ann.key")), "--role"),
                "opener")));
        Path memory = project.memory();
        String[] login = {
            "project",
            "login",
            "--project",
            project.at("genesis"),
            "--certificate",
            project.at("cat.pem"),
            "--key",
            project.at("cat.key"),
            "--folder",
            memory.resolve("cat").toString()
        };
        ProjectFilesFixture.out(project.cli.runWithSecret(login));
        LoginFolder left = new LoginFolder(memory.resolve("cat"));
        List<TlsCredential> before = new ArrayList<>();
        for (CertificateRole role : List.of(CertificateRole.DEVICE, CertificateRole.MEMBER, CertificateRole.OPENER)) {
            TlsCredential read = left.read(role);
            before.add(read);
            assertThat(read.chain()).hasSize(2);
            CertifiedIdentity identity = CertificateChain.of(read.chain())
                    .verifyUnlisted(Set.of(role), TrustAnchors.none().withProject(history), Instant.now());
            assertThat(identity.name().id()).isEqualTo("cat");
            assertThat(identity.notAfter()).isBefore(Instant.now().plus(Duration.ofHours(25)));
        }
        try (Stream<Path> files = Files.list(left.path())) {
            assertThat(files)
                    .hasSize(6)
                    .allMatch(file ->
                            PosixFilePermissions.toString(permissions(file)).equals("rw-------"));
        }
        ProjectFilesFixture.out(project.cli.runWithSecret(login));
        assertThat(left.read(CertificateRole.MEMBER)).isNotEqualTo(before.get(1));
        Files.copy(left.path().resolve("member.pem"), left.path().resolve("opener.pem"), REPLACE_EXISTING);
        assertThatThrownBy(() -> left.read(CertificateRole.OPENER)).hasMessageContaining("agentctl project login");
        login[7] = project.at("ben.key");
        ProjectFilesFixture.refused(project.cli.runWithSecret(login), "name the key that was certified");
    }

    @Test
    void an_owner_logs_in_by_its_key_alone_and_keys_lie_in_memory_only() throws Exception {
        ProjectHistory history = project.signed();
        String[] login = {
            "project",
            "login",
            "--project",
            project.at("genesis"),
            "--key",
            project.at("ann.key"),
            "--folder",
            project.memory().toString()
        };
        assertThat(ProjectFilesFixture.out(project.cli.runWithSecret(login))).contains("ann", "owner");
        TlsCredential owner = new LoginFolder(Path.of(login[7])).read(CertificateRole.OWNER);
        assertThat(owner.chain()).hasSize(1);
        CertificateChain.of(owner.chain())
                .verifyUnlisted(
                        Set.of(CertificateRole.OWNER), TrustAnchors.none().withProject(history), Instant.now());
        login[5] = project.at("cat.key");
        ProjectFilesFixture.refused(project.cli.runWithSecret(login), "want a key of an owner");
        login[7] = "/proc/self";
        ProjectFilesFixture.refused(project.cli.runWithSecret(login), "/proc/self: want a folder");
        Files.setPosixFilePermissions(project.memory(), PosixFilePermissions.fromString("rwxr-x---"));
        login[7] = project.memory().toString();
        ProjectFilesFixture.refused(project.cli.runWithSecret(login), "chmod 700");
    }

    @Test
    void an_opener_or_an_owner_certifies_a_controlling_VM_and_that_its_workers() throws Exception {
        ProjectHistory history = project.signed();
        ProjectFilesFixture.out(project.cli.runWithSecret(project.request("cat", "opener")));
        ProjectFilesFixture.out(
                project.cli.runWithSecret(ProjectFilesFixture.with(project.member("opener"), project.at("ann.key"))));
        SigningKey boot = SigningKey.of(pair());
        CertificateName name = new CertificateName("c1", "controller", history.id());
        Files.write(
                folder.resolve("c1.request"),
                Pem.write(
                        Pem.CERTIFICATE_REQUEST,
                        CertificateRequest.make(name, boot).bytes()));
        String[] controller = {
            "project",
            "controller",
            "--project",
            project.at("genesis"),
            "--out",
            project.at("c1.pem"),
            project.at("c1.request"),
            "--key",
            project.at("ann.key")
        };
        ProjectFilesFixture.out(project.cli.runWithSecret(controller));
        requireWorker(history, boot, 1);
        controller[8] = project.at("cat.key");
        ProjectFilesFixture.refused(project.cli.runWithSecret(controller), "want a key of an owner");
        ProjectFilesFixture.out(project.cli.runWithSecret(ProjectFilesFixture.with(
                ProjectFilesFixture.with(controller, "--certificate"), project.at("cat.pem"))));
        requireWorker(history, boot, 2);
        controller[6] = project.at("cat.request");
        ProjectFilesFixture.refused(project.cli.runWithSecret(controller), "want a request of a controlling VM");
    }

    private void requireWorker(ProjectHistory history, SigningKey boot, int above) throws Exception {
        List<byte[]> chain = new ArrayList<>(Pem.readAll(folder.resolve("c1.pem"), Pem.CERTIFICATE, 3));
        assertThat(chain).hasSize(above);
        SigningKey worker = SigningKey.of(pair());
        CertificateRequest request = CertificateRequest.make(new CertificateName("w1", "worker", history.id()), worker);
        chain.add(
                0,
                CertificateAuthority.load(chain.get(0), boot::sign, new SecureRandom())
                        .issue(
                                request.name(),
                                SubjectPublicKey.of(request.key()),
                                Instant.now(),
                                CertificateAuthority.LEAF));
        assertThat(CertificateChain.parse(chain)
                        .verifyUnlisted(
                                Set.of(CertificateRole.WORKER),
                                TrustAnchors.none().withProject(history),
                                Instant.now())
                        .key())
                .isEqualTo(worker.verificationKey());
    }

    private static KeyPair pair() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp384r1"));
        return generator.generateKeyPair();
    }

    private static Set<PosixFilePermission> permissions(Path file) {
        try {
            return Files.getPosixFilePermissions(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
