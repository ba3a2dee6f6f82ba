package org.cloister.lab.demo;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Result page of the demo, for the terminal and as HTML.
 *
 * @param job what ran
 * @param facts name and value
 */
record DemoPage(String job, JobTimeline timeline, List<DemoClaims.Claim> claims, List<Fact> facts) {
    private static final int ROW = 28;
    private static final int LABEL = 110;
    private static final int BARS = 640;
    private static final int SECONDS = 90;

    record Fact(String name, String value) {}

    void print(PrintStream out) {
        out.println("\n" + job);
        timeline.lines().forEach(line -> out.println("  " + line));
        out.println("\nwhat was seen");
        for (DemoClaims.Claim claim : claims) {
            out.println("  holds  " + claim.claim());
            out.println("         " + claim.seen());
        }
        out.println();
        facts.forEach(fact -> out.printf("  %-20s %s%n", fact.name(), fact.value()));
    }

    void write(Path file) throws IOException {
        try (InputStream frame = DemoPage.class.getResourceAsStream("page.html")) {
            String html = new String(frame.readAllBytes(), StandardCharsets.UTF_8)
                    .replace("{job}", text(job))
                    .replace("{timeline}", svg())
                    .replace(
                            "{claims}",
                            rows(claims.stream()
                                    .map(claim -> new Fact(claim.claim(), claim.seen()))
                                    .toList()))
                    .replace("{facts}", rows(facts));
            Files.createDirectories(file.getParent());
            Files.writeString(file, html);
        }
    }

    private static String rows(List<Fact> rows) {
        return rows.stream()
                .map(row ->
                        "<tr><th scope=\"row\">" + text(row.name()) + "</th><td>" + text(row.value()) + "</td></tr>\n")
                .collect(Collectors.joining());
    }

    private String svg() {
        double scale = BARS / Math.max(timeline.durationSeconds(), 1);
        StringBuilder svg = new StringBuilder();
        svg.append(String.format(
                Locale.ROOT,
                "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"time by phase\">%n",
                LABEL + BARS + SECONDS,
                timeline.bars().size() * ROW));
        int row = 0;
        for (JobTimeline.Bar bar : timeline.bars()) {
            double from = LABEL + bar.from() * scale;
            double width = Math.max(2, bar.seconds() * scale);
            int base = row * ROW + ROW - 10;
            svg.append(String.format(
                    Locale.ROOT,
                    "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>"
                            + "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"18\" rx=\"3\"%s/>"
                            + "<text x=\"%.1f\" y=\"%d\" class=\"seconds\">%.1f s</text>%n",
                    LABEL - 10,
                    base,
                    text(bar.name()),
                    from,
                    row * ROW + 4,
                    width,
                    bar.name().equals(JobTimeline.JOB) ? " class=\"job\"" : "",
                    from + width + 6,
                    base,
                    bar.seconds()));
            row++;
        }
        return svg.append("</svg>").toString();
    }

    private static String text(String raw) {
        return raw.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
