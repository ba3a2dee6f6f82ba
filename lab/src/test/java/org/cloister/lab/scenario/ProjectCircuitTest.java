package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.cloister.lab.LabCommand;
import org.cloister.lab.relay.ChildProcess;
import org.cloister.lab.relay.RelaySiteFiles;
import org.cloister.lab.relay.ShellHostProgram;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRequest;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A whole path to a shell: agentctl's commands alone make a site, a project and its people and deliver the documents to
 * the relay, and OpenSSH reaches an sshd behind a circuit. A revoked person is disconnected.
 */
@Tag("scenario")
@Tag("relay")
@Timeout(300)
class ProjectCircuitTest {
    private static final String PASSPHRASE = "a passphrase for the lab\n";
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init") // made before each test
    private Path memory;

    private int port;
    private int sshd;

    @BeforeEach
    void memory() throws IOException {
        memory = Files.createTempDirectory(Path.of("/dev/shm"), "cloister-lab");
        port = ChildProcess.port();
        sshd = ChildProcess.port();
    }

    @AfterEach
    void forget() throws IOException {
        LabCommand.of("rm", "-rf", memory.toString()).succeed();
    }

    private String at(String name) {
        return folder.resolve(name).toString();
    }

    private LabCommand command(String... arguments) {
        List<String> argv = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                "org.cloister.ctl.Agentctl"));
        argv.addAll(List.of(arguments));
        // What a device keeps as a witness is the test's, not the machine's.
        return LabCommand.of(argv).with(Map.of("XDG_STATE_HOME", at("kept"))).within(TIMEOUT);
    }

    private String agentctl(String... arguments) throws IOException {
        return command(arguments).succeed();
    }

    /** With a passphrase, as somebody would type it. */
    private String withSecret(String... arguments) throws IOException {
        String[] all = Arrays.copyOf(arguments, arguments.length + 2);
        all[arguments.length] = "--secret-fd";
        all[arguments.length + 1] = "0";
        return command(all).reading(PASSPHRASE).succeed();
    }

    /** Two machines of the site, by files. */
    private void site() throws IOException {
        withSecret("site", "init", "--site", at("ca"));
        for (String[] machine : new String[][] {{"relay", "r1"}, {"host", "h1"}}) {
            String token = at(machine[1] + ".token");
            withSecret("site", "enrol", "--site", at("ca"), "--role", machine[0], "--token", token, machine[1]);
            agentctl(
                    "site",
                    "request",
                    "--role",
                    machine[0],
                    "--token",
                    token,
                    "--machine-key",
                    at(machine[1] + ".key"),
                    "--out",
                    at(machine[1] + ".request"),
                    machine[1]);
            withSecret("site", "issue", "--site", at("ca"), at(machine[1] + ".request"));
            Files.copy(folder.resolve(machine[1] + ".request.pem"), folder.resolve(machine[1] + ".pem"));
        }
    }

    /** Two owners, and a member who logs in. */
    private String project() throws IOException {
        for (String person : List.of("ann", "ben", "cat")) {
            withSecret("project", "key", "--key", at(person + ".json"), "--out", at(person + ".pub"));
        }
        withSecret(
                "project",
                "create",
                "--owner",
                "ann=" + at("ann.pub"),
                "--owner",
                "ben=" + at("ben.pub"),
                "--threshold",
                "2",
                "--key",
                at("ann.json"),
                "--out",
                at("genesis.json"));
        withSecret("project", "sign", "--key", at("ben.json"), at("genesis.json"));
        String id = ProjectHistory.fromGenesis(Files.readAllBytes(folder.resolve("genesis.json")))
                .id();
        String[] roles = {"--role", "member", "--role", "opener"};
        withSecret(of("request", roles, "--key", at("cat.json"), "--out", at("cat.request"), "cat"));
        withSecret(of("member", roles, "--key", at("ann.json"), "--out", at("cat.pem"), at("cat.request")));
        withSecret(of("revoke", "--key", at("ann.json"), "--list", at("ann.crl")));
        withSecret(of("login", "--certificate", at("cat.pem"), "--key", at("cat.json"), "--folder", memory.toString()));
        return id;
    }

    private String[] of(String command, String... arguments) {
        return of(command, new String[0], arguments);
    }

    private String[] of(String command, String[] first, String... arguments) {
        List<String> all = new ArrayList<>(List.of("project", command, "--project", at("genesis.json")));
        all.addAll(List.of(first));
        all.addAll(List.of(arguments));
        return all.toArray(String[]::new);
    }

    /** The owners' policy, signed by both. */
    private void policy(String project) throws Exception {
        SigningKey host = SigningKey.of(pair("secp256r1"));
        Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
        String shape = "{\"cpus\":8,\"memoryMib\":32768,\"scratchMib\":0}";
        Files.writeString(
                folder.resolve("policy"),
                "{\"format\":\"cloister-policy-v1\",\"project\":\"" + project + "\",\"serial\":1,\"from\":\"" + now
                        + "\",\"until\":\"" + now.plus(Duration.ofDays(30))
                        + "\",\"level\":0,\"hosts\":[{\"name\":\"h1\","
                        + "\"key\":\""
                        + Base64.getEncoder()
                                .encodeToString(host.verificationKey().encoded())
                        + "\"}],\"images\":[{\"identity\":\"" + "ab".repeat(48) + "\"}],\"limits\":{\"controller\":"
                        + shape + ",\"worker\":" + shape + "},\"sharing\":\"none\",\"workerEncryption\":\"required\","
                        + "\"releases\":10}");
        withSecret(of("policy", "--key", at("ann.json"), "--out", at("policy.json"), at("policy")));
        withSecret("project", "sign", "--key", at("ben.json"), at("policy.json"));
    }

    /** A controlling VM's boot key, certified by an owner, and its own leaf of the day. */
    private void controller(String project) throws Exception {
        SigningKey boot = SigningKey.of(pair("secp384r1"));
        CertificateName name = new CertificateName("c1", "controller", project);
        pem(
                "c1.request",
                "CERTIFICATE REQUEST",
                CertificateRequest.make(name, boot).bytes());
        withSecret(of("controller", "--key", at("ann.json"), "--out", at("c1.authority"), at("c1.request")));
        byte[] authority = Base64.getMimeDecoder()
                .decode(Files.readString(folder.resolve("c1.authority")).replaceAll("-----[A-Z ]+-----", ""));
        KeyPair leaf = pair("secp384r1");
        byte[] certificate = CertificateAuthority.load(authority, boot::sign, new SecureRandom())
                .issue(
                        name,
                        SubjectPublicKey.of(SigningKey.of(leaf).verificationKey()),
                        Instant.now(),
                        CertificateAuthority.LEAF);
        pem("c1.pem", "CERTIFICATE", certificate, authority);
        pem("c1.key", "PRIVATE KEY", leaf.getPrivate().getEncoded());
    }

    private void pem(String file, String what, byte[]... ders) throws IOException {
        StringBuilder text = new StringBuilder();
        for (byte[] der : ders) {
            text.append("-----BEGIN ").append(what).append("-----\n");
            text.append(Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der));
            text.append("\n-----END ").append(what).append("-----\n");
        }
        Files.writeString(folder.resolve(file), text);
    }

    private static KeyPair pair(String curve) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec(curve));
        return generator.generateKeyPair();
    }

    private Path relayConfig() throws IOException {
        Path state = Files.createDirectory(folder.resolve("state"));
        return Files.writeString(
                folder.resolve("relay.toml"),
                "listen = \"127.0.0.1:" + port + "\"\ncertificate = \"" + at("r1.pem") + "\"\nkey = \"" + at("r1.key")
                        + "\"\nsite = \"" + at("ca/authority.pem") + "\"\nstate = \"" + state + "\"\nsocket = \""
                        + at("s") + "\"\n");
    }

    private void deliver(String... files) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("relay", "deliver", "--socket", at("s")));
        Arrays.stream(files).map(this::at).forEach(arguments::add);
        agentctl(arguments.toArray(String[]::new));
    }

    /** An sshd that root alone may enter with the key of the test; /run is its own, and the machine's stays as it is. */
    private ChildProcess sshd() throws IOException {
        for (String key : List.of("host", "user")) {
            LabCommand.of("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", at("ssh-" + key))
                    .succeed();
        }
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        Path config = Files.writeString(
                folder.resolve("sshd_config"),
                String.join(
                        "\n",
                        "ListenAddress 127.0.0.1:" + sshd,
                        "HostKey " + at("ssh-host"),
                        "AuthorizedKeysFile " + at("ssh-user.pub"),
                        "StrictModes no",
                        "PermitRootLogin prohibit-password",
                        "UsePAM no",
                        "Subsystem sftp internal-sftp",
                        "PidFile none",
                        ""));
        String start = "mount -t tmpfs none /run && mkdir /run/sshd && exec /usr/sbin/sshd -D -e -f " + config;
        return ChildProcess.start("sshd", folder, List.of("unshare", "--mount", "sh", "-c", start))
                .listening(sshd);
    }

    /** What the relay's operator and the project's people ask it beside. */
    private void operate(String id) throws IOException {
        String[] reach = {"--relay", "127.0.0.1:" + port, "--site", at("ca/authority.pem"), "--login", memory.toString()
        };
        assertThat(agentctl(of("quota", reach)))
                .containsPattern("tickets +0 of 64")
                .contains("account");
        // This relay has no Global Slurm.
        LabCommand.Output opened = command(
                        of("open", reach, "main", "--no-unlock", "--cpus", "1", "--memory", "1G", "--minutes", "10"))
                .run();
        assertThat(opened.exit()).isNotZero();
        assertThat(opened.err()).contains("(no-slurm)");
        assertThat(agentctl("relay", "drain", "--socket", at("s"))).contains("accepts no new tickets");
        assertThat(agentctl("relay", "tickets", "--socket", at("s"), "--output", "json"))
                .contains("\"draining\" : true");
        assertThat(agentctl("relay", "drain", "--undo", "--socket", at("s"))).contains("accepts new tickets");
        Path log = folder.resolve("state/audit");
        assertThat(agentctl("audit", "show", log.toString())).contains("approval.taken", "relay.draining");
        List<String> verify = new ArrayList<>(List.of("audit", "verify", log.toString(), "--relay", at("r1.pem")));
        try (Stream<Path> heads = Files.list(folder.resolve("kept/cloister/" + id + "/audit-heads"))) {
            heads.forEach(head -> verify.addAll(List.of("--head", head.toString())));
        }
        assertThat(verify).as("heads that the device kept").hasSizeGreaterThan(5);
        assertThat(agentctl(verify.toArray(String[]::new))).contains("is that of record");
    }

    private LabCommand ssh(String target, String... arguments) throws IOException {
        Path script = folder.resolve("proxy");
        String proxy = String.join(
                " ",
                command(of(
                                "circuit",
                                "--relay",
                                "127.0.0.1:" + port,
                                "--site",
                                at("ca/authority.pem"),
                                "--policy",
                                at("policy.json"),
                                "--login",
                                memory.toString(),
                                "\"$1\""))
                        .argv());
        Files.writeString(script, "#!/bin/sh\nexport XDG_STATE_HOME=" + at("kept") + "\nexec " + proxy + "\n");
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
        List<String> argv = new ArrayList<>(List.of("ssh", "-F", "none", "-i", at("ssh-user")));
        for (String option : List.of(
                "BatchMode=yes",
                "IdentitiesOnly=yes",
                "StrictHostKeyChecking=no",
                "UserKnownHostsFile=" + at("known"),
                "ProxyCommand=" + script + " %h")) {
            argv.addAll(List.of("-o", option));
        }
        argv.add("root@" + target);
        argv.addAll(List.of(arguments));
        return new LabCommand(argv, Map.of(), "", TIMEOUT);
    }

    private void approve() throws Exception {
        withSecret(
                "site",
                "approve",
                "--site",
                at("ca"),
                "--account",
                "chem",
                "--number",
                "1",
                "--nodes",
                "4",
                "--cpus",
                "64",
                "--memory",
                "262144",
                "--vms",
                "8",
                "--circuits",
                "100",
                "--links",
                "20",
                "--out",
                at("approval.json"),
                at("genesis.json"));
    }

    @Test
    @SuppressWarnings("try") // the relay is there to be used by others
    @RotatedScenario(9)
    void a_member_reaches_a_shell_through_a_relay_until_an_owner_revokes() throws Exception {
        site();
        String id = project();
        policy(id);
        controller(id);
        approve();
        try (ChildProcess relay = ChildProcess.relay(folder, relayConfig(), port);
                ChildProcess shell = sshd()) {
            RelaySiteFiles.awaitOperators(folder.resolve("s"));
            deliver("genesis.json", "approval.json", "ca/revocations.crl", "ann.crl");
            try (ChildProcess vm = ChildProcess.java(
                    ShellHostProgram.class,
                    folder,
                    port,
                    sshd,
                    at("ca/authority.pem"),
                    at("genesis.json"),
                    at("h1"),
                    at("c1"))) {
                vm.await("served", TIMEOUT);
                String target = "c1.controller." + id + ".cloister.internal";
                assertThat(ssh(target, "echo", "inside").succeed()).isEqualTo("inside\n");
                byte[] sent = new byte[3_000_000];
                Arrays.fill(sent, (byte) 'x');
                assertThat(ssh(target, "wc", "-c")
                                .reading(new String(sent, StandardCharsets.US_ASCII))
                                .succeed()
                                .strip())
                        .isEqualTo("3000000");
                assertThat(agentctl("relay", "hosts", "--socket", at("s")))
                        .contains("h1.host.site.cloister.internal", target);
                assertThat(agentctl("relay", "status", "--socket", at("s"))).contains("ready");
                operate(id);
                withSecret(of("revoke", "--key", at("ann.json"), "--list", at("ann.crl"), at("cat.pem")));
                deliver("ann.crl");
                LabCommand.Output out = ssh(target, "echo", "inside").run();
                assertThat(out.exit()).isNotZero();
                assertThat(out.out()).isEmpty();
                assertThat(out.err()).contains("relay: ");
            }
        }
    }
}
