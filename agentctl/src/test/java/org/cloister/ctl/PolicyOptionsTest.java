package org.cloister.ctl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import java.util.stream.Stream;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.policy.PolicySuccession;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.policy.VmShape;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Policies that agentctl makes of options, as verifiers read them. */
class PolicyOptionsTest {
    private static final String IMAGE = "1a".repeat(48);
    private static final String NEXT_IMAGE = "2b".repeat(48);

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init")
    private ProjectFilesFixture project;

    @SuppressWarnings("NullAway.Init")
    private String id;

    @BeforeEach
    void create() throws IOException {
        project = new ProjectFilesFixture(folder);
        id = project.signed().id();
        out("site", "init", "--site", project.at("ca"));
        enrol("host", "h1");
    }

    @AfterEach
    void close() throws IOException {
        project.close();
    }

    private String out(String... arguments) throws IOException {
        return ProjectFilesFixture.out(project.cli.runWithSecret(arguments));
    }

    private void enrol(String role, String name) throws IOException {
        String token = project.at(name + ".token");
        out("site", "enrol", "--site", project.at("ca"), "--role", role, "--token", token, name);
        ProjectFilesFixture.out(project.cli.run(
                "site",
                "request",
                "--role",
                role,
                "--token",
                token,
                "--machine-key",
                project.at(name + ".key"),
                "--out",
                project.at(name),
                name));
        out("site", "issue", "--site", project.at("ca"), project.at(name));
    }

    private String[] policy(String name, String... more) {
        return Stream.concat(
                        Stream.of(
                                "project",
                                "policy",
                                "--project",
                                project.at("genesis"),
                                "--key",
                                project.at("ann.key"),
                                "--site",
                                project.at("ca/authority.pem"),
                                "--out",
                                project.at(name)),
                        Stream.of(more))
                .toArray(String[]::new);
    }

    private ProjectPolicy read(String name) throws IOException {
        return ProjectPolicy.parse(DsseEnvelope.parse(Files.readAllBytes(folder.resolve(name)), 1 << 20)
                .unverifiedPayload());
    }

    private Cli.Result show(String name) throws IOException {
        return project.cli.run("project", "show", project.at("genesis"), project.at(name));
    }

    @Test
    void a_first_policy_has_the_sites_hosts_and_two_owners_read_what_they_sign() throws Exception {
        String printed = out(policy("p1", "--host", project.at("h1.pem"), "--image", IMAGE, "--sharing", "any"));
        ProjectPolicy made = read("p1");
        assertThat(made.serial()).isEqualTo(1);
        assertThat(made.loosens()).isEmpty();
        assertThat(made.sharing()).isEqualTo(HostSharing.ANY);
        assertThat(made.workerEncryption()).isTrue();
        assertThat(made.controllerLimit()).isEqualTo(new VmShape(8, 32_768, 0));
        assertThat(made.hosts().get(0).name()).isEqualTo("h1");
        String key = made.hosts().get(0).key().toString();
        assertThat(printed)
                .containsPattern("serial +1\n")
                .containsPattern("host h1 +" + key)
                .containsPattern("image +" + IMAGE)
                .containsPattern("controlling VM +8 CPUs, 32768 MiB memory, 0 MiB scratch")
                .containsPattern("worker encryption +required")
                .containsPattern("until +" + made.until());
        Cli.Result one = show("p1");
        assertThat(one.status()).as(one.err()).isEqualTo(1);
        assertThat(one.out()).containsPattern("signed by +ann; want 2").containsPattern("host h1 +" + key);
        assertThat(out("project", "sign", "--key", project.at("ben.key"), project.at("p1")))
                .as("read before the passphrase is typed")
                .containsPattern("host h1 +" + key);
        assertThat(ProjectFilesFixture.out(show("p1"))).containsPattern("signed by +ann, ben; enough");
        ProjectFilesFixture.refused(
                project.cli.run("project", "show", project.at("p1")), "want the project's documents before it");
        assertThat(PolicySuccession.problems(id, Optional.empty(), made, Instant.now()))
                .isEmpty();
    }

    @Test
    void a_later_policy_has_the_former_values_and_names_what_it_asks_less_of() throws Exception {
        out(policy("p1", "--host", project.at("h1.pem"), "--image", IMAGE, "--controller", "cpus=4,memory=8G"));
        ProjectFilesFixture.refused(
                project.cli.runWithSecret(policy("early", "--previous", project.at("p1"))), "signatures of 2");
        out("project", "sign", "--key", project.at("ben.key"), project.at("p1"));
        ProjectPolicy first = read("p1");
        String printed = out(policy(
                "p2",
                "--previous",
                project.at("p1"),
                "--image",
                NEXT_IMAGE,
                "--image",
                IMAGE + "=7",
                "--sharing",
                "any",
                "--worker-encryption",
                "optional"));
        ProjectPolicy next = read("p2");
        assertThat(printed)
                .containsPattern("loosens +\\[sharing, workerEncryption]")
                .containsPattern("former image 1 +" + IMAGE + " until");
        assertThat(next.serial()).isEqualTo(2);
        assertThat(next.hosts()).isEqualTo(first.hosts());
        assertThat(next.controllerLimit()).isEqualTo(new VmShape(4, 8192, 0));
        assertThat(PolicySuccession.problems(id, Optional.of(first), next, Instant.now()))
                .isEmpty();
    }

    @Test
    void a_host_that_this_site_did_not_certify_is_refused() throws Exception {
        out("site", "init", "--site", project.at("other"));
        String[] foreign = policy("p1", "--host", project.at("h1.pem"), "--image", IMAGE);
        foreign[7] = project.at("other/authority.pem");
        ProjectFilesFixture.refused(project.cli.runWithSecret(foreign), "h1.pem: certificate of h1.host.site");
        enrol("relay", "r1");
        ProjectFilesFixture.refused(
                project.cli.runWithSecret(policy("p1", "--host", project.at("r1.pem"), "--image", IMAGE)), "(role)");
        assertThat(folder.resolve("p1")).doesNotExist();
    }

    @Test
    void wrong_options_are_named() throws Exception {
        String host = project.at("h1.pem");
        assertThat(project.cli.runWithSecret(policy("p", "--image", IMAGE)).err())
                .contains("missing option --host");
        assertThat(project.cli.runWithSecret(policy("p", "--host", host)).err()).contains("missing option --image");
        assertThat(project.cli
                        .runWithSecret(policy("p", "--host", host, "--image", "1a"))
                        .err())
                .contains("want 96 lower-case hex digits");
        assertThat(project.cli
                        .runWithSecret(policy("p", "--host", host, "--image", IMAGE, "--worker", "cpus=8,cpus=9"))
                        .err())
                .contains("want a size such as cpus=8,memory=32G");
        ProjectFilesFixture.refused(
                project.cli.runWithSecret(policy("p", "--host", host, "--image", IMAGE, "--days", "367")),
                "within 366 days");
        ProjectFilesFixture.refused(
                project.cli.runWithSecret(policy("p", "--host", host, "--host", host, "--image", IMAGE)),
                "every key once");
        Path plain = Files.writeString(folder.resolve("plain"), "{}");
        assertThat(project.cli
                        .runWithSecret(policy("p", "--days", "9", plain.toString()))
                        .err())
                .contains("--site: only without POLICY");
        assertThat(folder.resolve("p")).doesNotExist();
    }
}
