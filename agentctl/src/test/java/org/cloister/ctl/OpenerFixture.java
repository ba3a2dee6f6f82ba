package org.cloister.ctl;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.ticket.Opening;
import org.cloister.transport.circuit.FaultyPath;
import org.cloister.transport.tls.TlsCredential;

/** The opener's end of a project, for tests that have the controlling VM's: agentctl itself, and a relay whose circuits fail. */
public abstract class OpenerFixture extends UnlockCommandFixture {
    /** Begins {@code agentctl project open} for a drive that is to be made. */
    protected final CompletableFuture<Cli.Result> open() throws IOException {
        return run(creating("--policy", signed(1), "--output", "json"));
    }

    /** Begins {@code agentctl project open} for the drive that the device has opened before. */
    protected final CompletableFuture<Cli.Result> reopen() throws IOException {
        return run(unlocking("--output", "json"));
    }

    private static CompletableFuture<Cli.Result> run(String[] arguments) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return project.cli.runWithSecrets(arguments);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    /** Another relay, and a device that has opened nothing. */
    protected final void restart() throws Exception {
        closeRelay();
        serve();
        keep();
    }

    /** The one with this number, from 1, that the relay took. */
    protected final Opening opened(int number) throws InterruptedException {
        return awaitOpening(number);
    }

    /** It runs on the host. */
    protected final void runs(Opening opening) throws Exception {
        relay.run(opening.id(), allocation(opening));
    }

    /** Of circuits from now on, one after the other. */
    protected final void paths(Supplier<FaultyPath> paths) {
        relay.exchange().paths = paths;
    }

    /** As in HOST:PORT. */
    protected final String relayAddress() {
        return relay.address();
    }

    protected static TlsCredential host() throws IOException {
        return credential("h1");
    }

    protected static ProjectHistory owners() {
        return history;
    }

    /** As of who has heard all lists. */
    protected static TrustStore believed() throws IOException {
        return beliefs();
    }
}
