package org.cloister.lab.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/**
 * Results of a bench: one line for each figure, ours beside the peer's from the same run, and the raw values as JSON. A
 * ratio above 1 means that ours is better.
 */
final class BenchFigures {
    private static final double MEDIAN = 0.5;
    private static final double P99 = 0.99;

    private final String bench;
    private final PrintStream out;
    private final ObjectNode raw = new ObjectMapper().createObjectNode();

    BenchFigures(String bench, PrintStream out) {
        this.bench = bench;
        this.out = out;
    }

    /** Reports times, of which less is better: the median, and the p99 if there are at least 100 rounds. */
    void times(String metric, double[] oursSeconds, double[] peerSeconds) {
        keep(metric, "ours", oursSeconds);
        keep(metric, "peer", peerSeconds);
        printTimes(metric, quantile(oursSeconds, MEDIAN), quantile(peerSeconds, MEDIAN));
        if (oursSeconds.length >= 100) {
            printTimes(metric + "_p99", quantile(oursSeconds, P99), quantile(peerSeconds, P99));
        }
    }

    /** Reports rates, of which more is better: the median. */
    void rates(String metric, double[] ours, double[] peer, String unit) {
        keep(metric, "ours", ours);
        keep(metric, "peer", peer);
        double oursMedian = quantile(ours, MEDIAN);
        double peerMedian = quantile(peer, MEDIAN);
        print(metric, oursMedian, peerMedian, oursMedian / peerMedian, unit);
    }

    /** Reports the p99 alone, of times that are measured from one common start. */
    void p99(String metric, double[] oursSeconds, double[] peerSeconds) {
        keep(metric, "ours", oursSeconds);
        keep(metric, "peer", peerSeconds);
        printTimes(metric + "_p99", quantile(oursSeconds, P99), quantile(peerSeconds, P99));
    }

    /** Reports rates of alternating rounds: the medians, and the median, minimum and maximum of all rounds' ratios. */
    void roundRates(String metric, double[] ours, double[] peer, String unit) {
        rounds(metric, ours, peer, ratios(ours, peer), unit);
    }

    /** Reports times in the same way; of them less is better. */
    void roundTimes(String metric, double[] oursSeconds, double[] peerSeconds) {
        rounds(metric, oursSeconds, peerSeconds, ratios(peerSeconds, oursSeconds), "s");
    }

    /** Reports our median beside a limit; less is better. */
    void within(String metric, double[] ours, double limit, String unit) {
        keep(metric, "ours", ours);
        printWithin(metric, quantile(ours, MEDIAN), limit, unit);
    }

    /** Reports the p99, to which the limit applies, in the same way; the median has its own line. */
    void p99Within(String metric, double[] ours, double limit, String unit) {
        alone(metric, ours, unit);
        printWithin(metric + "_p99", quantile(ours, P99), limit, unit);
    }

    private void printWithin(String metric, double ours, double limit, String unit) {
        out.println(String.format(
                Locale.ROOT,
                "%s %s ours=%.3f limit=%.3f ratio=%.2f unit=%s",
                bench,
                metric,
                ours,
                limit,
                limit / ours,
                unit));
    }

    /** Reports our median, without a peer. */
    void alone(String metric, double[] ours, String unit) {
        keep(metric, "ours", ours);
        out.println(String.format(Locale.ROOT, "%s %s ours=%.3f unit=%s", bench, metric, quantile(ours, MEDIAN), unit));
    }

    /** Reports the peer's median where there is no figure of ours. */
    void peerAlone(String metric, double[] peer, String unit) {
        keep(metric, "peer", peer);
        out.println(String.format(Locale.ROOT, "%s %s peer=%.3f unit=%s", bench, metric, quantile(peer, MEDIAN), unit));
    }

    /** Reports the same as {@link #alone}, and the p99. */
    void p99(String metric, double[] ours, String unit) {
        alone(metric, ours, unit);
        out.println(
                String.format(Locale.ROOT, "%s %s_p99 ours=%.3f unit=%s", bench, metric, quantile(ours, P99), unit));
    }

    private void rounds(String metric, double[] ours, double[] peer, double[] ratios, String unit) {
        keep(metric, "ours", ours);
        keep(metric, "peer", peer);
        out.println(String.format(
                Locale.ROOT,
                "%s %s ours=%.6f peer=%.6f ratio=%.2f ratio_min=%.2f ratio_max=%.2f unit=%s",
                bench,
                metric,
                quantile(ours, MEDIAN),
                quantile(peer, MEDIAN),
                quantile(ratios, MEDIAN),
                quantile(ratios, 0.001),
                quantile(ratios, 1),
                unit));
    }

    private static double[] ratios(double[] better, double[] worse) {
        double[] ratios = new double[better.length];
        Arrays.setAll(ratios, i -> better[i] / worse[i]);
        return ratios;
    }

    void save(Path file) throws IOException {
        new ObjectMapper().writerWithDefaultPrettyPrinter().writeValue(file.toFile(), raw);
        out.println("raw values: " + file);
    }

    static double quantile(double[] values, double q) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[(int) Math.ceil(q * sorted.length) - 1];
    }

    private void printTimes(String metric, double ours, double peer) {
        print(metric, ours, peer, peer / ours, "s");
    }

    private void print(String metric, double ours, double peer, double ratio, String unit) {
        out.println(String.format(
                Locale.ROOT, "%s %s ours=%.3f peer=%.3f ratio=%.2f unit=%s", bench, metric, ours, peer, ratio, unit));
    }

    /** Keeps raw values only, such as those of a part of a reported figure. */
    void keep(String metric, String side, double[] values) {
        ArrayNode array = raw.withObjectProperty(metric).putArray(side);
        for (double value : values) {
            array.add(value);
        }
    }
}
