package org.cloister.ctl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.cloister.protocol.identity.ProjectApproval;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.RevocationList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProjectCommandsTest {
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
    void two_owners_make_a_project_give_a_person_a_role_and_take_it_back() throws Exception {
        ProjectFilesFixture.refused(project.cli.run("project", "show", project.at("genesis")), "refused (signatures)");
        ProjectFilesFixture.out(
                project.cli.runWithSecret("project", "sign", project.at("genesis"), "--key", project.at("ben.key")));
        ProjectHistory history = ProjectHistory.fromGenesis(Files.readAllBytes(folder.resolve("genesis")));
        assertThat(ProjectFilesFixture.out(project.cli.run("project", "show", project.at("genesis"))))
                .contains(history.id(), "owner ben");
        ProjectFilesFixture.out(project.cli.runWithSecret(project.request("cat", "member")));
        String[] member = project.member("member");
        ProjectFilesFixture.refused(
                project.cli.runWithSecret(ProjectFilesFixture.with(member, project.at("cat.key"))),
                "want a key of an owner");
        assertThat(ProjectFilesFixture.out(
                        project.cli.runWithSecret(ProjectFilesFixture.with(member, project.at("ann.key")))))
                .contains("cat", "[member]", project.keyId("cat.pub"));
        String[] revoke = {
            "project",
            "revoke",
            "--project",
            project.at("genesis"),
            "--list",
            project.at("ann.crl"),
            "--key",
            project.at("ann.key")
        };
        ProjectFilesFixture.out(project.cli.runWithSecret(revoke));
        ProjectFilesFixture.out(project.cli.runWithSecret(ProjectFilesFixture.with(revoke, project.at("cat.pem"))));
        RevocationList list = RevocationList.read(Files.readAllBytes(folder.resolve("ann.crl")), history.ownerKeys());
        assertThat(list.number()).isEqualTo(BigInteger.TWO);
        assertThat(list.serials()).hasSize(1);
        assertThat(ProjectFilesFixture.out(
                        project.cli.run("project", "show", "--list", project.at("ann.crl"), project.at("genesis"))))
                .contains("list of ann", "number 2, revokes 1, until " + list.nextUpdate());
        Path loop = Files.createSymbolicLink(folder.resolve("loop.crl"), folder.resolve("loop.crl"));
        revoke[5] = loop.toString();
        ProjectFilesFixture.refused(project.cli.runWithSecret(revoke), "loop.crl");
        assertThat(loop).as("no list that begins anew").isSymbolicLink();
    }

    @Test
    void owners_who_sign_the_first_document_also_sign_their_first_empty_lists() throws Exception {
        String[] create = {
            "project",
            "create",
            "--owner",
            "ann=" + project.at("ann.pub"),
            "--owner",
            "ben=" + project.at("ben.pub"),
            "--threshold",
            "2",
            "--list",
            project.at("ann.crl"),
            "--out",
            project.at("listed"),
            "--key",
            project.at("ann.key")
        };
        ProjectFilesFixture.out(project.cli.runWithSecret(create));
        String[] sign = {
            "project", "sign", "--list", project.at("ben.crl"), project.at("listed"), "--key", project.at("ben.key")
        };
        assertThat(ProjectFilesFixture.out(project.cli.runWithSecret(sign)))
                .as("read before the passphrase is typed")
                .containsPattern("owner ann +" + project.keyId("ann.pub"))
                .containsPattern("threshold +2");
        ProjectHistory history = ProjectHistory.fromGenesis(Files.readAllBytes(folder.resolve("listed")));
        for (String person : List.of("ann", "ben")) {
            RevocationList list =
                    RevocationList.read(Files.readAllBytes(folder.resolve(person + ".crl")), history.ownerKeys());
            assertThat(list.anchor().id()).isEqualTo(project.keyId(person + ".pub"));
            assertThat(list.number()).isEqualTo(BigInteger.ONE);
            assertThat(list.serials()).isEmpty();
        }
        ProjectFilesFixture.out(project.cli.runWithSecret(
                "project",
                "revoke",
                "--project",
                project.at("listed"),
                "--list",
                project.at("ben.crl"),
                "--key",
                project.at("ben.key")));
        ProjectFilesFixture.refused(project.cli.runWithSecret(sign), "ben.crl: want no file of that name");
        sign[3] = project.at("cat.crl");
        ProjectFilesFixture.refused(
                project.cli.runWithSecret(
                        ProjectFilesFixture.with(Arrays.copyOf(sign, sign.length - 1), project.at("cat.key"))),
                "want a key of an owner");
        assertThat(folder.resolve("cat.crl")).doesNotExist();
    }

    @Test
    void a_successor_wants_the_threshold_and_its_new_owner() throws Exception {
        ProjectFilesFixture.out(
                project.cli.runWithSecret("project", "sign", project.at("genesis"), "--key", project.at("ben.key")));
        ProjectFilesFixture.out(project.cli.runWithSecret(
                "project",
                "create",
                "--project",
                project.at("genesis"),
                "--owner",
                "ann=" + project.at("ann.pub"),
                "--owner",
                "cat=" + project.at("cat.pub"),
                "--threshold",
                "1",
                "--key",
                project.at("ann.key"),
                "--out",
                project.at("next")));
        ProjectFilesFixture.refused(
                project.cli.run("project", "show", project.at("genesis"), project.at("next")), "refused (signatures)");
        ProjectFilesFixture.out(
                project.cli.runWithSecret("project", "sign", project.at("next"), "--key", project.at("ben.key")));
        ProjectFilesFixture.refused(
                project.cli.run("project", "show", project.at("genesis"), project.at("next")), "by its new owners");
        ProjectFilesFixture.out(
                project.cli.runWithSecret("project", "sign", project.at("next"), "--key", project.at("cat.key")));
        assertThat(ProjectFilesFixture.out(
                        project.cli.run("project", "show", "-o", "json", project.at("genesis"), project.at("next"))))
                .contains("\"number\" : \"1\"", "owner cat")
                .doesNotContain("owner ben");
    }

    @Test
    void the_site_approves_what_its_owners_signed() throws Exception {
        ProjectFilesFixture.out(project.cli.runWithSecret("site", "init", "--site", project.at("ca")));
        String[] approve = {
            "site",
            "approve",
            "--site",
            project.at("ca"),
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
            project.at("approval"),
            project.at("genesis")
        };
        ProjectFilesFixture.refused(project.cli.runWithSecret(approve), "refused (signatures)");
        ProjectFilesFixture.out(
                project.cli.runWithSecret("project", "sign", project.at("genesis"), "--key", project.at("ben.key")));
        ProjectFilesFixture.out(project.cli.runWithSecret(approve));
        assertThat(Files.readString(folder.resolve("approval"))).contains(ProjectApproval.TYPE);
    }

    @Test
    void a_policy_that_is_none_or_another_projects_is_not_signed() throws Exception {
        ProjectFilesFixture.out(
                project.cli.runWithSecret("project", "sign", project.at("genesis"), "--key", project.at("ben.key")));
        Files.writeString(folder.resolve("policy.json"), "{\"format\":\"cloister-policy-v1\"}");
        ProjectFilesFixture.refused(
                project.cli.runWithSecret(
                        "project",
                        "policy",
                        "--project",
                        project.at("genesis"),
                        "--out",
                        project.at("policy"),
                        project.at("policy.json"),
                        "--key",
                        project.at("ann.key")),
                project.at("policy.json"));
        assertThat(folder.resolve("policy")).doesNotExist();
    }
}
