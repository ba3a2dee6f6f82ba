package org.cloister.lab.relay;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/**
 * Program: {@code FOLDER RELAY-PORT NATS-PORT ROUNDS}. Sends the same data through a circuit and through
 * {@code nats-server} alternately and prints {@code METRIC SIDE VALUE} for each round.
 */
public final class TrafficProgram {
    private static final int WARM = 4;
    private static final int LARGE = 1 << 16;
    private static final int LARGE_COUNT = 2000;
    private static final int SMALL = 512;
    private static final int SMALL_COUNT = 4000;

    private TrafficProgram() {}

    public static void main(String[] args)
            throws IOException, InterruptedException, ExecutionException, TimeoutException {
        RelaySiteFiles site = RelaySiteFiles.at(Path.of(args[0]));
        int repetitions = Integer.parseInt(args[3]);
        EventLoopGroup loops =
                new MultiThreadIoEventLoopGroup(2, new DefaultThreadFactory("loop", true), NioIoHandler.newFactory());
        EndpointPair ours = new CircuitEndpoints(site, Integer.parseInt(args[1]), loops);
        EndpointPair peer = new NatsEndpoints(site, Integer.parseInt(args[2]), loops);
        for (int i = -WARM; i < repetitions; i++) {
            large(i, "ours", ours);
            large(i, "peer", peer);
        }
        for (int i = -WARM; i < repetitions; i++) {
            small(i, "ours", ours);
            small(i, "peer", peer);
        }
        System.exit(0);
    }

    private static void large(int round, String side, EndpointPair ends) throws InterruptedException, TimeoutException {
        double rate = ends.throughput(LARGE_COUNT, LARGE);
        if (round >= 0) {
            System.out.println("throughput64k " + side + " " + rate);
        }
    }

    private static void small(int round, String side, EndpointPair ends) throws InterruptedException, TimeoutException {
        double[] times = ends.roundTrips(SMALL_COUNT, SMALL);
        if (round >= 0) {
            Arrays.sort(times);
            System.out.println("p99_512 " + side + " " + times[(int) (0.99 * times.length)]);
            System.out.println("median_512 " + side + " " + times[times.length / 2]);
        }
    }
}
