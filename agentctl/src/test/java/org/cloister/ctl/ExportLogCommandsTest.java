package org.cloister.ctl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.cloister.audit.AuditLogWriter;
import org.cloister.ctl.key.Pem;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.audit.AuditField;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.ProjectDocument;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.ProjectOwners;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A project's log of exports, of two starts of its VM, as agent-vm lays it. */
class ExportLogCommandsTest {
    private static final Instant LONG_AGO = Instant.parse("2026-01-22T12:00:00Z");
    private static final SecureRandom RANDOM = new SecureRandom();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init")
    private Cli cli;

    private final SigningKey first = key();
    private final SigningKey second = key();

    @BeforeEach
    void write() throws Exception {
        cli = new Cli(folder, "not needed");
        SigningKey owner = project("genesis.json");
        ProjectHistory history = ProjectHistory.fromGenesis(Files.readAllBytes(folder.resolve("genesis.json")));
        start(history.id(), owner, first);
        start(history.id(), owner, second);
    }

    @AfterEach
    void close() throws IOException {
        cli.close();
    }

    private static SigningKey key() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(SignatureCurve.P384.standardName()));
            return SigningKey.of(generator.generateKeyPair());
        } catch (GeneralSecurityException | IOException e) {
            throw new AssertionError(e);
        }
    }

    private SigningKey project(String name) throws Exception {
        SigningKey owner = key();
        SigningKey ben = key();
        ProjectOwners owners = new ProjectOwners(
                1,
                List.of(
                        new ProjectOwners.Owner("ann", owner.verificationKey()),
                        new ProjectOwners.Owner("ben", ben.verificationKey())));
        byte[] genesis = ProjectDocument.genesis(owners, LONG_AGO, RANDOM);
        Files.write(
                folder.resolve(name),
                DsseEnvelope.sign(ProjectDocument.GENESIS, genesis, owner)
                        .countersign(ben)
                        .bytes());
        return owner;
    }

    private Path log() {
        return folder.resolve("exports");
    }

    private void start(String project, SigningKey owner, SigningKey vm) throws Exception {
        CertificateName name = new CertificateName("main", "controller", project);
        SubjectPublicKey key = SubjectPublicKey.of(vm.verificationKey());
        byte[] authority = CertificateAuthority.ofProject(
                        project,
                        SubjectPublicKey.of(owner.verificationKey()),
                        owner::sign,
                        LONG_AGO,
                        Duration.ofDays(300),
                        RANDOM)
                .certifyController(name.id(), key, LONG_AGO, Duration.ofDays(7));
        byte[] leaf =
                CertificateAuthority.load(authority, vm::sign, RANDOM).issue(name, key, LONG_AGO, Duration.ofHours(12));
        try (AuditLogWriter log =
                AuditLogWriter.openForAll(log(), name.toString(), vm, InstantSource.fixed(LONG_AGO))) {
            log.append(List.of(AuditEvent.of(LONG_AGO, "export.opened").with(AuditField.PATH, "results.csv")));
        }
        ByteArrayOutputStream chain = new ByteArrayOutputStream();
        chain.writeBytes(Pem.write(Pem.CERTIFICATE, leaf));
        chain.writeBytes(Pem.write(Pem.CERTIFICATE, authority));
        Files.write(signer(vm), chain.toByteArray());
    }

    private Path signer(SigningKey vm) {
        return log().resolve("signer-" + vm.verificationKey().id() + ".pem");
    }

    private Cli.Result verify(String project) throws IOException {
        return cli.run(
                "audit",
                "verify",
                log().toString(),
                "--project",
                folder.resolve(project).toString());
    }

    @Test
    void each_starts_key_is_believed_by_its_certificates_long_after_their_day() throws Exception {
        Cli.Result holds = verify("genesis.json");
        assertThat(holds.status()).as(holds.out() + holds.err()).isZero();
        assertThat(holds.out()).contains("records      4").doesNotContain("key was not given");
        assertThat(cli.run("audit", "show", log().toString(), "--kind", "export")
                        .out())
                .hasLineCount(2)
                .contains("path=results.csv");
    }

    @Test
    void a_start_that_nobody_certified_is_found() throws Exception {
        Files.delete(signer(second));
        Cli.Result unknown = verify("genesis.json");
        assertThat(unknown.status()).isEqualTo(2);
        assertThat(unknown.out()).contains("finding      key ");
        Files.delete(signer(first));
        assertThat(verify("genesis.json").err()).contains("certificates: no signer-KEY.pem beside the segments");
    }

    @Test
    void certificates_of_another_project_are_refused_by_file() throws Exception {
        project("other.json");
        Cli.Result other = verify("other.json");
        assertThat(other.status()).isEqualTo(2);
        assertThat(other.err()).contains("signer-").contains("certificate of main.controller.");
    }
}
