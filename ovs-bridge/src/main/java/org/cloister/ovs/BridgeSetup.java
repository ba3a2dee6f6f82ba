package org.cloister.ovs;

import com.fasterxml.jackson.databind.JsonNode;
import io.netty.channel.EventLoop;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.cloister.ovs.BridgeRows.PortRow;
import org.cloister.ovs.io.OvsException;
import org.cloister.ovs.io.OvsException.DeviceRefused;
import org.cloister.ovs.io.OvsException.Disconnected;
import org.cloister.ovs.io.OvsException.Malformed;
import org.cloister.ovs.io.OvsException.PlanRefused;
import org.cloister.ovs.ovsdb.OvsdbClient;
import org.cloister.ovs.ovsdb.OvsdbReplica;
import org.cloister.ovs.ovsdb.OvsdbRow;
import org.jspecify.annotations.Nullable;

/**
 * Creates a bridge with the port of its VLAN trunk, and sets the bridge's settings, as {@link SecureBridge} does with
 * the same configuration. Changes no flow and no port of a plan, so that it can be used before {@link SecureBridge} and
 * beside it. Owned by the event loop.
 */
public final class BridgeSetup implements OvsdbClient.Listener {
    private final BridgeConfig config;
    private final String operation;
    private final OvsdbClient ovsdb;
    private final CompletableFuture<List<BridgeDifference>> result = new CompletableFuture<>();
    private final List<BridgeDifference> differences = new ArrayList<>();
    private @Nullable OvsdbReplica database;
    private boolean submitted;
    private boolean transacting;
    private long awaitedCfg;

    private BridgeSetup(BridgeConfig config, EventLoop loop) {
        this.config = config;
        this.operation = operation(config);
        this.ovsdb = new OvsdbClient(loop, config.databaseSocket(), BridgeRows.COLUMNS, this);
    }

    /**
     * Returns when vswitchd has carried the changes out. It may be repeated, also after a failure.
     *
     * @return what differed before; empty if all was in place
     */
    public static List<BridgeDifference> apply(BridgeConfig config) throws OvsException {
        if (!Files.isWritable(config.databaseSocket())) {
            throw new Disconnected(
                    operation(config), "no socket " + config.databaseSocket() + " that this user may write to");
        }
        return SingleOperation.run(config, operation(config), loop -> {
            BridgeSetup setup = new BridgeSetup(config, loop);
            setup.ovsdb.start();
            return setup.result;
        });
    }

    private static String operation(BridgeConfig config) {
        return "set up " + config.bridge();
    }

    @Override
    public void onRows(OvsdbReplica replica) {
        database = replica;
        step();
    }

    @Override
    public void onLost(OvsException why) {
        database = null;
        // The rows will show whether the transaction was done.
        submitted = false;
        transacting = false;
        awaitedCfg = 0;
    }

    private void step() {
        OvsdbReplica copy = database;
        if (copy == null || transacting || result.isDone()) {
            return;
        }
        try {
            BridgeRows rows = BridgeRows.of(copy, config.bridge());
            if (!submitted) {
                requireFreeDevice(copy);
                submit(rows);
            } else if (BridgeRows.currentCfg(copy) >= awaitedCfg && arePortsOpen(rows)) {
                result.complete(List.copyOf(differences));
            }
        } catch (OvsException e) {
            result.completeExceptionally(e);
        }
    }

    /** Sends the changes, or without any only the number for which vswitchd has to answer. */
    private void submit(BridgeRows rows) throws OvsException {
        PortRowChange change = PortRowChange.between(rows, PortPlanSet.of(rows.plans(config.agent())), config);
        differences.addAll(change.differences());
        submitted = true;
        transacting = true;
        ovsdb.transact(operation, change.transaction().count(rows.root()), new OvsdbClient.ReplyCallback() {
            @Override
            public void onResult(JsonNode results) throws Malformed {
                JsonNode next = results.get(change.transaction().size() - 1)
                        .path("rows")
                        .path(0)
                        .path("next_cfg");
                if (!next.canConvertToLong()) {
                    throw new Malformed(operation, "next_cfg", results.toString());
                }
                awaitedCfg = next.longValue();
                transacting = false;
                step();
            }

            @Override
            public void onFailure(OvsException why) {
                if (!(why instanceof Disconnected)) {
                    result.completeExceptionally(why);
                }
            }
        });
    }

    private boolean arePortsOpen(BridgeRows rows) throws DeviceRefused {
        String trunk = config.uplink();
        for (String device : trunk == null ? List.of(config.bridge()) : List.of(config.bridge(), trunk)) {
            PortRow row = rows.ports().get(device);
            if (row != null && !row.error().isEmpty()) {
                throw new DeviceRefused(device, row.error());
            }
            if (row == null || row.number().orElse(-1) < 0) {
                return false;
            }
        }
        return true;
    }

    /** Refuses a device that another port has: OVSDB would name neither the port nor its bridge. */
    private void requireFreeDevice(OvsdbReplica copy) throws OvsException {
        String device = config.uplink();
        if (device == null) {
            return;
        }
        for (OvsdbRow bridge : copy.rows("Bridge")) {
            for (UUID uuid : bridge.references("ports")) {
                OvsdbRow port = copy.row("Port", uuid);
                if (port != null && hasInterface(copy, port, device) && !isOurs(bridge, port, device)) {
                    String has = port.text("name") + " of the bridge " + bridge.text("name");
                    throw new PlanRefused(
                            "VLAN trunk " + device,
                            "a device without a port, or with the port " + device + " of " + config.bridge(),
                            "one of the port " + has,
                            "remove that port with ovs-vsctl del-port, or name another device");
                }
            }
        }
    }

    private boolean isOurs(OvsdbRow bridge, OvsdbRow port, String device) throws Malformed {
        return bridge.text("name").equals(config.bridge())
                && port.text("name").equals(device)
                && !device.equals(config.bridge());
    }

    private static boolean hasInterface(OvsdbReplica copy, OvsdbRow port, String device) throws Malformed {
        for (UUID uuid : port.references("interfaces")) {
            OvsdbRow row = copy.row("Interface", uuid);
            if (row != null && row.text("name").equals(device)) {
                return true;
            }
        }
        return false;
    }
}
