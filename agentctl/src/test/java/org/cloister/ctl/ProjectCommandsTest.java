package org.cloister.ctl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.cloister.protocol.identity.Approval;
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
    private Cli cli;

    @BeforeEach
    void open() throws IOException {
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

    @AfterEach
    void close() throws IOException {
        cli.close();
    }

    private String at(String name) {
        return folder.resolve(name).toString();
    }

    private static String out(Cli.Result result) {
        assertThat(result.err()).isEmpty();
        assertThat(result.status()).isZero();
        return result.out();
    }

    private void refused(Cli.Result result, String why) {
        assertThat(result.err()).contains(why);
        assertThat(result.status()).isEqualTo(2);
    }

    @Test
    void two_owners_make_a_project_give_a_person_a_role_and_take_it_back() throws Exception {
        refused(cli.run("project", "show", at("genesis")), "refused (signatures)");
        out(cli.runWithSecret("project", "sign", at("genesis"), "--key", at("ben.key")));
        ProjectHistory project = ProjectHistory.begin(Files.readAllBytes(folder.resolve("genesis")));
        assertThat(out(cli.run("project", "show", at("genesis")))).contains(project.id(), "owner ben");
        String[] member = {
            "project",
            "member",
            "--project",
            at("genesis"),
            "--role",
            "member",
            "--public",
            at("cat.pub"),
            "--out",
            at("cat.pem"),
            "cat",
            "--key"
        };
        refused(cli.runWithSecret(with(member, at("cat.key"))), "want a key of an owner");
        out(cli.runWithSecret(with(member, at("ann.key"))));
        String[] revoke = {
            "project", "revoke", "--project", at("genesis"), "--list", at("ann.crl"), "--key", at("ann.key")
        };
        out(cli.runWithSecret(revoke));
        out(cli.runWithSecret(with(revoke, at("cat.pem"))));
        RevocationList list = RevocationList.read(Files.readAllBytes(folder.resolve("ann.crl")), project.ownerKeys());
        assertThat(list.number()).isEqualTo(BigInteger.TWO);
        assertThat(list.serials()).hasSize(1);
    }

    @Test
    void a_successor_wants_the_threshold_and_its_new_owner() throws Exception {
        out(cli.runWithSecret("project", "sign", at("genesis"), "--key", at("ben.key")));
        out(cli.runWithSecret(
                "project",
                "create",
                "--project",
                at("genesis"),
                "--owner",
                "ann=" + at("ann.pub"),
                "--owner",
                "cat=" + at("cat.pub"),
                "--threshold",
                "1",
                "--key",
                at("ann.key"),
                "--out",
                at("next")));
        refused(cli.run("project", "show", at("genesis"), at("next")), "refused (signatures)");
        out(cli.runWithSecret("project", "sign", at("next"), "--key", at("ben.key")));
        refused(cli.run("project", "show", at("genesis"), at("next")), "by its new owners");
        out(cli.runWithSecret("project", "sign", at("next"), "--key", at("cat.key")));
        assertThat(out(cli.run("project", "show", "-o", "json", at("genesis"), at("next"))))
                .contains("\"number\" : \"1\"", "owner cat")
                .doesNotContain("owner ben");
    }

    @Test
    void the_site_approves_what_its_owners_signed() throws Exception {
        out(cli.runWithSecret("site", "init", "--site", at("ca")));
        String[] approve = {
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
            at("approval"),
            at("genesis")
        };
        refused(cli.runWithSecret(approve), "refused (signatures)");
        out(cli.runWithSecret("project", "sign", at("genesis"), "--key", at("ben.key")));
        out(cli.runWithSecret(approve));
        assertThat(Files.readString(folder.resolve("approval"))).contains(Approval.TYPE);
    }

    @Test
    void a_policy_that_is_none_or_another_projects_is_not_signed() throws Exception {
        out(cli.runWithSecret("project", "sign", at("genesis"), "--key", at("ben.key")));
        Files.writeString(folder.resolve("policy.json"), "{\"format\":\"cloister-policy-v1\"}");
        refused(
                cli.runWithSecret(
                        "project",
                        "policy",
                        "--project",
                        at("genesis"),
                        "--out",
                        at("policy"),
                        at("policy.json"),
                        "--key",
                        at("ann.key")),
                at("policy.json"));
        assertThat(folder.resolve("policy")).doesNotExist();
    }

    private static String[] with(String[] words, String more) {
        String[] all = Arrays.copyOf(words, words.length + 1);
        all[words.length] = more;
        return all;
    }
}
