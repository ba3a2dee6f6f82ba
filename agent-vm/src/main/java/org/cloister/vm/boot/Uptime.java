package org.cloister.vm.boot;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Time since this machine's start by the kernel's own count, which, unlike a clock, cannot be set.
 *
 * @param kernel seconds since the kernel's start
 * @param exec seconds since this process' start
 */
record Uptime(BigDecimal kernel, BigDecimal exec) {
    private static final Path UPTIME = Path.of("/proc/uptime");
    private static final Path SELF = Path.of("/proc/self/stat");
    /** Index of {@code starttime} in proc(5), counted from the field that follows the program's name. */
    private static final int START_TIME = 19;

    /** Decimal digits of USER_HZ, which is 100 per second on all supported machines. */
    private static final int DIGITS = 2;

    static Uptime now() throws IOException {
        return read(text(UPTIME), text(SELF));
    }

    static Uptime read(String uptime, String stat) {
        BigDecimal kernel = new BigDecimal(uptime.split(" ", 2)[0]).setScale(DIGITS, RoundingMode.DOWN);
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        BigDecimal started = BigDecimal.valueOf(Long.parseLong(fields[START_TIME]), DIGITS);
        return new Uptime(kernel, kernel.subtract(started).max(BigDecimal.ZERO.setScale(DIGITS)));
    }

    private static String text(Path file) throws IOException {
        return Files.readString(file, StandardCharsets.ISO_8859_1);
    }

    @Override
    public String toString() {
        return kernel + " " + exec;
    }
}
