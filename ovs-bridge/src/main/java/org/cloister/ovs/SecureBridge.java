package org.cloister.ovs;

import com.codahale.metrics.MetricRegistry;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.cloister.ovs.io.OvsException;
import org.cloister.ovs.io.OvsException.Disconnected;
import org.cloister.ovs.io.OvsException.PlanRefused;
import org.cloister.ovs.io.OvsException.TimedOut;
import org.jspecify.annotations.Nullable;

/**
 * A bridge that is kept equal to its plans: the caller sets all plans once with {@link #replace}, then adds and removes
 * single ones. It changes nothing before the first {@link #replace}, and never a port that another program made. It
 * repairs any change of the daemons of Open vSwitch, or of flows and rows, as soon as it detects it.
 *
 * <p>Every change is one OVSDB transaction and one atomic bundle of flows. It is in effect when the method returns, and
 * rolled back when the method throws. Safe for use by several threads; changes are made in the order of the calls.
 */
public final class SecureBridge implements AutoCloseable {
    /** Extra time for an event loop that does not answer; a change fails by itself at its deadline. */
    private static final Duration GRACE = Duration.ofSeconds(2);

    private final BridgeConfig config;
    private final MultiThreadIoEventLoopGroup threads;
    private final EventLoop loop;
    private final BridgeReconciler convergence;

    private SecureBridge(BridgeConfig config, MetricRegistry registry) {
        this.config = config;
        this.threads = new MultiThreadIoEventLoopGroup(
                1, new DefaultThreadFactory(config.bridge(), true), NioIoHandler.newFactory());
        this.loop = threads.next();
        this.convergence = new BridgeReconciler(loop, config, new BridgeMetrics(registry));
    }

    /** Opens the bridge without waiting for the daemons, which may start later. */
    public static SecureBridge open(BridgeConfig config, MetricRegistry registry) {
        SecureBridge bridge = new SecureBridge(config, registry);
        bridge.convergence.start();
        return bridge;
    }

    /**
     * Sets exactly these ports as ours. A missing device is no failure here: after a start some devices may have
     * disappeared, and the port opens when its device appears.
     */
    public AppliedPorts replace(Collection<PortPlan> all) throws OvsException {
        List<PortPlan> plans = List.copyOf(all);
        return change(before -> PortPlanSet.of(plans));
    }

    /** Adds the ports of a job: either all of them open, or all are removed. A plan of the same device is replaced. */
    public AppliedPorts add(Collection<PortPlan> some) throws OvsException {
        List<PortPlan> plans = List.copyOf(some);
        return change(before -> requirePlans(before).with(plans));
    }

    /** Removes ports. A port that does not exist is no error. */
    public AppliedPorts remove(Collection<String> devices) throws OvsException {
        List<String> gone = List.copyOf(devices);
        return change(before -> requirePlans(before).without(gone));
    }

    /** Returns the plans in the rows of our ports, for a caller that has lost its ledger. */
    public List<PortPlan> found() throws OvsException {
        return wait(
                loop.submit((Callable<List<PortPlan>>) () -> convergence.rows().plans(config.agent())));
    }

    /** Returns the flows that exist for one port only, as text; empty for a port that is not open. */
    public List<String> flows(String device) throws OvsException {
        return wait(loop.submit((Callable<List<String>>) () -> convergence.flows(device)));
    }

    /**
     * Stops the maintenance and leaves the bridge unchanged: ports keep working, and the next opener of the bridge
     * maintains them.
     */
    @Override
    public void close() {
        try {
            wait(loop.submit(() -> {
                convergence.close();
                return true;
            }));
        } catch (OvsException e) {
            throw new IllegalStateException(e);
        } finally {
            threads.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
        }
    }

    private static PortPlanSet requirePlans(@Nullable PortPlanSet plans) throws PlanRefused {
        if (plans == null) {
            throw new PlanRefused(
                    "change of ports", "all plans told before", "none told since the start", "call replace first");
        }
        return plans;
    }

    private AppliedPorts change(BridgeChange.Edit edit) throws OvsException {
        BridgeChange change = new BridgeChange(edit, System.nanoTime());
        loop.execute(() -> convergence.submit(change));
        return wait(change.done);
    }

    private <T> T wait(Future<T> future) throws OvsException {
        try {
            return future.get(config.deadline().plus(GRACE).toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof OvsException failure) {
                throw failure;
            }
            throw new IllegalStateException(e.getCause());
        } catch (TimeoutException e) {
            throw new TimedOut(
                    "change of " + config.bridge(),
                    "an answer of its event loop",
                    "none within " + config.deadline().plus(GRACE).toMillis() + " ms",
                    "look for what keeps the thread " + config.bridge() + " busy");
        } catch (InterruptedException | CancellationException e) {
            Thread.currentThread().interrupt();
            throw new Disconnected("change of " + config.bridge(), "an interrupted caller");
        }
    }
}
