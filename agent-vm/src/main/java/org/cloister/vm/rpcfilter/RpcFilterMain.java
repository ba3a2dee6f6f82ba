package org.cloister.vm.rpcfilter;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.function.Consumer;

/**
 * Program {@code ADDRESS/BITS RELEASE FILE}: the filter in front of this machine's slurmctld; runs until it is killed.
 */
public final class RpcFilterMain {
    /** Port to which workers' connections to slurmctld's port are redirected. */
    public static final int PORT = 16817;
    /** slurmctld's port in every VM's slurm.conf. */
    public static final int SLURMCTLD_PORT = 6817;

    private static final int CONFIGURATION = 78;
    private static final int BROKEN = 70;
    private static final int ARGUMENTS = 3;

    private RpcFilterMain() {}

    @SuppressWarnings("SystemOut") // standard error goes to the journal
    public static void main(String[] args) {
        Consumer<String> log = System.err::println;
        if (args.length != ARGUMENTS) {
            log.accept("slurm-filter: error: expected ADDRESS/BITS RELEASE FILE, got " + args.length + " words");
            System.exit(CONFIGURATION);
        }
        SlurmRelease release = SlurmRelease.of(args[1]).orElse(null);
        if (release == null) {
            log.accept("slurm-filter: error: expected a release of Slurm whose messages are known, got another one");
            System.exit(CONFIGURATION);
            return;
        }
        ProjectNetwork network = ProjectNetwork.parse(args[0]);
        try (RpcFilter filter = new RpcFilter(
                        network,
                        PORT,
                        new InetSocketAddress(network.own(), SLURMCTLD_PORT),
                        new RpcHeaderPolicy(release, RpcFilterLimits.PRODUCT.maxMessageBytes()),
                        RpcFilterLimits.PRODUCT,
                        log);
                FilterStateFile.Writer state = FilterStateFile.lock(Path.of(args[2]))) {
            log.accept("listening address=" + args[0] + " port=" + filter.port() + " slurm=" + release);
            filter.run(text -> write(state, text));
        } catch (IOException | UncheckedIOException e) {
            log.accept("slurm-filter: error: " + e.getMessage());
            System.exit(BROKEN);
        }
    }

    private static void write(FilterStateFile.Writer state, String text) {
        try {
            state.write(text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
