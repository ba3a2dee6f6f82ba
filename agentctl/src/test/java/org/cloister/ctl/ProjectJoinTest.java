package org.cloister.ctl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.policy.AcceptedHost;
import org.cloister.protocol.policy.AcceptedImage;
import org.cloister.protocol.policy.AssuranceLevel;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.policy.VmShape;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Invitations of owners, and the profiles that devices make of them. */
@SuppressWarnings("NullAway") // what is missing shows as a failed test
class ProjectJoinTest {
    private static final String RELAY = "relay.example.org:7443";

    @TempDir
    private Path folder;

    private ProjectFilesFixture project;
    private String id;

    @BeforeEach
    void create() throws Exception {
        project = new ProjectFilesFixture(folder);
        id = complete(project);
    }

    @AfterEach
    void close() throws IOException {
        project.close();
    }

    /** All that an invitation has beside a certificate: a signed genesis, a site, and a policy. */
    private static String complete(ProjectFilesFixture project) throws Exception {
        String id = project.signed().id();
        ProjectFilesFixture.out(project.cli.runWithSecret("site", "init", "--site", project.at("ca")));
        sign(project, id, 1, "p1");
        return id;
    }

    private static void sign(ProjectFilesFixture project, String id, long serial, String name) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
        ProjectPolicy policy = new ProjectPolicy(
                id,
                serial,
                now.minus(Duration.ofHours(1)),
                now.plus(Duration.ofDays(30)),
                AssuranceLevel.HOST_WORD,
                List.of(new AcceptedHost(
                        "h1", SigningKey.of(generator.generateKeyPair()).verificationKey())),
                List.of(new AcceptedImage(Digest.sha384(new byte[] {1}), Optional.empty())),
                new VmShape(4, 8192, 0),
                new VmShape(64, 262_144, 1 << 20),
                HostSharing.PROJECT,
                true,
                100,
                Set.of());
        Path plain = Files.write(project.folder.resolve(name + ".plain"), policy.json());
        ProjectFilesFixture.out(project.cli.runWithSecret(
                "project",
                "policy",
                "--project",
                project.at("genesis"),
                "--key",
                project.at("ann.key"),
                "--out",
                project.at(name),
                plain.toString()));
        ProjectFilesFixture.out(
                project.cli.runWithSecret("project", "sign", "--key", project.at("ben.key"), project.at(name)));
    }

    private String at(String name) {
        return project.at(name);
    }

    private String out(String... arguments) throws IOException {
        return ProjectFilesFixture.out(project.cli.runWithSecret(arguments));
    }

    private String list(String... more) throws IOException {
        return ProjectFilesFixture.out(project.cli.run(
                Stream.concat(Stream.of("project", "list"), Stream.of(more)).toArray(String[]::new)));
    }

    private void refused(String why, String... arguments) throws IOException {
        ProjectFilesFixture.refused(project.cli.runWithSecret(arguments), why);
    }

    /** An owner's, without a certificate. */
    private String invite(ProjectFilesFixture of, String policy, String relay, String name) throws IOException {
        ProjectFilesFixture.out(of.cli.runWithSecret(
                "project",
                "invite",
                "--project",
                of.at("genesis"),
                "--policy",
                of.at(policy),
                "--site",
                of.at("ca/authority.pem"),
                "--relay",
                relay,
                "--key",
                of.at("ann.key"),
                "--out",
                of.at(name)));
        return of.at(name);
    }

    /** ann certifies cat by a command that has no option of what her profile has. */
    private String certifyCat(String name) throws IOException {
        out(project.request("cat", "member"));
        out(
                "project",
                "member",
                "--role",
                "member",
                "--out",
                at("cat.pem"),
                "--invitation",
                at(name),
                at("cat.request"));
        return at(name);
    }

    private void joinAnn() throws IOException {
        out("project", "join", invite(project, "p1", RELAY, "ann.join"), "--key", at("ann.key"));
    }

    /** The command by which an owner's own device joins, without an invitation; more options follow. */
    private String[] ownDevice(String key, String... more) {
        return Stream.concat(
                        Stream.of(
                                "project",
                                "join",
                                "--project",
                                at("genesis"),
                                "--policy",
                                at("p1"),
                                "--site",
                                at("ca/authority.pem"),
                                "--relay",
                                RELAY,
                                "--key",
                                at(key)),
                        Stream.of(more))
                .toArray(String[]::new);
    }

    @Test
    void an_owner_certifies_themselves_and_joins_by_one_command_and_again_from_the_profile() throws Exception {
        assertThat(out(ownDevice("ann.key", "--role", "opener", "--role", "member", "--label", "chem")))
                .containsPattern("person +ann\n")
                .containsPattern("roles +\\[opener, member]")
                .containsPattern("label +chem");
        String[] login = {
            "project", "login", "--folder", project.memory().resolve("login").toString()
        };
        assertThat(out(login)).containsPattern("roles +\\[[^]]*opener").contains("member", "device");
        assertThat(out("project", "join", "--role", "exporter", "--out", at("ann.pem"), "--days", "2"))
                .as("what is left is the profile's")
                .containsPattern("roles +\\[exporter]")
                .containsPattern("label +chem");
        assertThat(list("--output", "json")).contains("\"roles\" : \"exporter\"", RELAY);
        assertThat(out("project", "revoke", "--list", at("ann.crl"), at("ann.pem")))
                .containsPattern("revoked +1");
        out("project", "join");
        assertThat(list("--output", "json")).as("without a role").doesNotContain("exporter");
    }

    @Test
    void only_an_owner_joins_without_an_invitation_and_a_profile_needs_all_parts() throws Exception {
        refused("want a key of an owner", ownDevice("cat.key", "--role", "member"));
        refused("want some of opener, member and exporter", ownDevice("ann.key", "--role", "controller"));
        assertThat(profile()).doesNotExist();
        Cli.Result part = project.cli.runWithSecret(
                "project", "join", "--project", at("genesis"), "--key", at("ann.key"), "--role", "member");
        assertThat(part.err()).contains("missing option --policy");
        Cli.Result both = project.cli.runWithSecret(
                "project",
                "join",
                invite(project, "p1", RELAY, "ann.join"),
                "--role",
                "member",
                "--key",
                at("ann.key"));
        assertThat(both.status()).isEqualTo(64);
        assertThat(both.err()).contains("--role: only for an owner without FILE");
        Cli.Result useless = project.cli.runWithSecret(ownDevice("ann.key", "--out", at("ann.pem")));
        assertThat(useless.err()).contains("--out: want --role beside it");
    }

    private Path profile() {
        return folder.resolve("config/cloister").resolve(id).resolve("profile.json");
    }

    @Test
    void an_owner_joins_and_gives_the_same_options_to_a_member_without_naming_them() throws Exception {
        assertThat(out("project", "join", invite(project, "p1", RELAY, "ann.join"), "--key", at("ann.key")))
                .containsPattern("project +" + id)
                .containsPattern("label +" + id.substring(0, 8))
                .containsPattern("owner ben +" + project.keyId("ben.pub"))
                .containsPattern("relay +" + RELAY);
        String invitation = certifyCat("cat.join");
        assertThat(out("project", "join", "--id", id, "--label", "chem", "--key", at("cat.key"), invitation))
                .containsPattern("label +chem")
                .containsPattern("person +cat\n")
                .containsPattern("roles +\\[member]");
        assertThat(list("--output", "json"))
                .contains(
                        "\"label\" : \"chem\"", "\"default\" : true", "\"roles\" : \"member\"", "\"person\" : \"cat\"")
                .contains("\"relay\" : \"" + RELAY + "\"", "\"key\" : \"" + at("cat.key") + "\"");
        assertThat(out(
                        "project",
                        "login",
                        "--folder",
                        project.memory().resolve("login").toString()))
                .containsPattern("person +cat\n")
                .containsPattern("roles +\\[member, device]|roles +\\[device, member]");
    }

    @Test
    void a_profile_is_private_and_has_the_key_by_its_whole_path() throws Exception {
        joinAnn();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(profile())))
                .isEqualTo("rw-------");
        assertThat(PosixFilePermissions.toString(
                        Files.getPosixFilePermissions(profile().getParent())))
                .isEqualTo("rwx------");
        assertThat(Files.readString(profile())).contains("\"file\":\"" + at("ann.key") + "\"");
    }

    @Test
    void an_invitation_of_another_project_or_key_is_refused_and_leaves_no_profile() throws Exception {
        String other = "b".repeat(51) + "a";
        String invitation = invite(project, "p1", RELAY, "ann.join");
        refused(
                "want one of project " + other + ", have one of " + id,
                "project",
                "join",
                "--id",
                other,
                invitation,
                "--key",
                at("ann.key"));
        refused("the key is no owner's", "project", "join", invitation, "--key", at("cat.key"));
        refused("private key: want --key", "project", "join", invitation);
        assertThat(profile()).doesNotExist();
        joinAnn();
        String cats = certifyCat("cat.join");
        refused("want a certificate of the key " + project.keyId("ann.pub"), "project", "join", cats);
        assertThat(list()).as("still ann's").contains("owner");
    }

    @Test
    void a_later_invitation_replaces_what_there_is_and_an_older_policy_does_not() throws Exception {
        joinAnn();
        sign(project, id, 2, "p2");
        out("project", "join", invite(project, "p2", "r2.example.org:1", "later.join"));
        assertThat(list()).contains("r2.example.org:1").doesNotContain(RELAY);
        byte[] before = Files.readAllBytes(profile());
        refused(
                "want policy 2 or a later one, which this device has, have another policy of serial 1",
                "project",
                "join",
                invite(project, "p1", RELAY, "older.join"));
        sign(project, id, 2, "p2b");
        refused("have another policy of serial 2", "project", "join", invite(project, "p2b", RELAY, "fork.join"));
        assertThat(Files.readAllBytes(profile())).isEqualTo(before);
    }

    @Test
    void a_changed_invitation_is_refused() throws Exception {
        String invitation = invite(project, "p1", RELAY, "ann.join");
        Path other = folder.resolve("other.join");
        out(
                "project",
                "invite",
                "--project",
                at("genesis"),
                "--policy",
                at("p1"),
                "--site",
                at("ca/authority.pem"),
                "--relay",
                "evil.example.org:1",
                "--key",
                at("ann.key"),
                "--out",
                other.toString());
        String payload = Files.readString(other).replaceAll(".*\"payload\":\"([^\"]*)\".*", "$1");
        Files.writeString(
                other,
                Files.readString(Path.of(invitation))
                        .replaceAll("\"payload\":\"[^\"]*\"", "\"payload\":\"" + payload + "\""));
        refused("signature", "project", "join", other.toString(), "--key", at("ann.key"));
    }

    @Test
    void several_projects_need_a_name_or_a_default() throws Exception {
        joinAnn();
        try (ProjectFilesFixture second =
                ProjectFilesFixture.another(Files.createDirectory(folder.resolve("second")))) {
            complete(second);
            String invitation = invite(second, "p1", "r2.example.org:1", "ann.join");
            refused(
                    "label: want one that no other project has",
                    "project",
                    "join",
                    invitation,
                    "--key",
                    second.at("ann.key"),
                    "--label",
                    id.substring(0, 8));
            out("project", "join", invitation, "--key", second.at("ann.key"), "--label", "zoo");
        }
        Cli.Result unclear = project.cli.runWithSecret("project", "revoke", "--list", at("a.crl"));
        assertThat(unclear.status()).isEqualTo(64);
        assertThat(unclear.err()).contains("missing option --profile: want one of ", "zoo", id.substring(0, 8));
        assertThat(list()).doesNotContain("yes");
        out("project", "revoke", "--list", at("a.crl"), "--profile", id);
        out("project", "revoke", "--list", at("b.crl"), "--profile", "zoo");
        assertThat(list("--default", "zoo")).containsPattern("zoo +yes");
        out("project", "revoke", "--list", at("b.crl"));
        refused("revocation list refused (issuer)", "project", "revoke", "--list", at("a.crl"));
        refused(
                "want the id or label of a joined project",
                "project",
                "revoke",
                "--list",
                at("a.crl"),
                "--profile",
                "none");
        Cli.Result both = project.cli.runWithSecret(
                "project", "revoke", "--list", at("a.crl"), "--project", at("genesis"), "--profile", "zoo");
        assertThat(both.err()).contains("--profile: want that of project " + id);
    }

    @Test
    void the_documents_of_an_option_select_the_profile_of_their_project() throws Exception {
        joinAnn();
        try (ProjectFilesFixture second =
                ProjectFilesFixture.another(Files.createDirectory(folder.resolve("second")))) {
            second.signed();
            Cli.Result quota = project.cli.run("project", "quota", "--project", second.at("genesis"));
            assertThat(quota.status()).isEqualTo(64);
            assertThat(quota.err()).contains("missing option --site: give it, or join the project once");
        }
    }

    @Test
    void the_block_for_ssh_names_the_profile_alone() throws Exception {
        joinAnn();
        certifyCat("cat.join");
        String[] words = {
            "project",
            "ssh-config",
            "--user",
            "cat",
            "--login",
            project.memory().toString()
        };
        assertThat(ProjectFilesFixture.out(project.cli.run(words)))
                .contains("ProxyCommand agentctl project connect --profile " + id + " --login " + project.memory()
                        + " --vm main.controller." + id)
                .doesNotContain("--relay", "--policy", "--site");
    }
}
