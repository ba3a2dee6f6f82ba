package org.cloister.ctl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.cloister.protocol.ticket.Opening;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An opener gives no drive's key to a VM of a host whose key the site has taken back, whatever relay and owners say of it. */
@Tag("boundary")
@Timeout(180)
@SuppressWarnings("NullAway") // what is missing shows as a failed test
class RevokedHostTest extends UnlockCommandFixture {
    private static final String HOST = "h1.host.site.cloister.internal";

    private static byte[] before;
    /** The next list of the site, which names the host. */
    private static byte[] revoked;

    @BeforeAll
    static void revoke() throws IOException {
        before = Files.readAllBytes(folder.resolve("ca/revocations.crl"));
        Path later = folder.resolve("ca-later");
        try (Stream<Path> files = Files.walk(folder.resolve("ca"))) {
            for (Path each : files.toList()) {
                Files.copy(each, later.resolve(folder.resolve("ca").relativize(each)));
            }
        }
        out("site", "revoke", "--site", later.toString(), HOST);
        revoked = Files.readAllBytes(later.resolve("revocations.crl"));
    }

    private void serve(byte[] siteList) throws IOException {
        relay.close();
        relay = new LoopbackTicketRelay(
                credential("r1"), beliefs(), List.of(siteList, Files.readAllBytes(folder.resolve("ann.crl"))));
    }

    private void requireNothingGiven(Cli.Result result, FakeControllerVm vm) throws Exception {
        assertThat(result.err()).contains("agentctl: denied by revoked: ", "enrol it anew and have it accepted");
        assertThat(result.status()).isEqualTo(2);
        assertThat(vm.denials.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(vm.denied.clauses()).containsExactly("revoked");
        assertThat(vm.unlock).isNull();
    }

    @Test
    void a_host_that_the_sites_list_names_gets_no_key_though_the_policy_accepts_it() throws Exception {
        serve(revoked);
        try (UnlockResult met = runUnlock(creating("--policy", signed(1)))) {
            requireNothingGiven(met.result(), met.vm());
        }
        assertThat(state.resolve("unlocked")).as("what was given").doesNotExist();
    }

    @Test
    void a_list_that_comes_after_the_decision_and_before_the_key_still_counts() throws Exception {
        serve(before);
        String[] arguments = creating("--policy", signed(1));
        try (LockedFile lock = LockedFile.lock(state.resolve("unlocked"))) {
            CompletableFuture<Cli.Result> result = CompletableFuture.supplyAsync(() -> {
                try {
                    return project.cli.runWithSecrets(arguments);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            Opening opening = awaitOpening(1);
            try (FakeControllerVm vm = new FakeControllerVm(relay, credential("h1"), beliefs(), opening)) {
                vm.boot();
                relay.run(opening.id(), allocation(opening));
                lock.awaitWaiting();
                assertThat(vm.questions).as("the VM has shown its evidence").hasSize(1);
                relay.deliverList(revoked);
                lock.release();
                requireNothingGiven(result.get(90, TimeUnit.SECONDS), vm);
            }
        }
    }

    @Test
    void without_a_list_of_each_authority_of_the_site_in_force_nothing_is_given() throws Exception {
        out("site", "init", "--site", at("other-ca"));
        Path both = folder.resolve("both.pem");
        Files.write(both, Files.readAllBytes(folder.resolve("ca/authority.pem")));
        Files.write(both, Files.readAllBytes(folder.resolve("other-ca/authority.pem")), StandardOpenOption.APPEND);
        String[] arguments = creating("--policy", signed(1));
        for (int i = 0; i < arguments.length; i++) {
            arguments[i] = arguments[i].equals(at("ca/authority.pem")) ? both.toString() : arguments[i];
        }
        try (UnlockResult met = runUnlock(arguments)) {
            ProjectFilesFixture.refused(met.result(), "refused (list): want a revocation list of ");
            assertThat(met.result().err()).contains("--site");
            assertThat(met.vm().unlock).isNull();
        }
        assertThat(state.resolve("unlocked")).as("what was given").doesNotExist();
    }
}
