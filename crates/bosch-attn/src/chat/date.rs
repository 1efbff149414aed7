//! `strftime` in UTC, for templates that write today's date.

use std::time::{SystemTime, UNIX_EPOCH};

use minijinja::{Error, ErrorKind};

const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// `time` written in Python's `format`.
///
/// # Errors
///
/// A directive other than `%a %A %b %B %d %e %H %I %j %m %M %p %S %y %Y %%`, the first of them named.
pub(super) fn strftime(time: SystemTime, format: &str) -> Result<String, Error> {
    let seconds = match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_secs()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_secs()).unwrap_or(i64::MAX),
    };
    let moment = Moment::new(seconds);
    let mut text = String::new();
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        match (character, character == '%') {
            (plain, false) => text.push(plain),
            _ => text.push_str(&moment.directive(characters.next())?),
        }
    }
    Ok(text)
}

/// A second of the Gregorian calendar.
struct Moment {
    year: i64,
    month: usize,
    day: i64,
    day_of_year: i64,
    weekday: usize,
    second_of_day: i64,
}

impl Moment {
    fn new(seconds: i64) -> Self {
        let (days, second_of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let weekday = (days + 4).rem_euclid(7) as usize; // 1 January 1970 was a Thursday
        // Years are counted from March in eras of 400 years (146 097 days), so that the leap day comes last.
        let shifted = days + 719_468;
        let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let from_march = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * from_march + 2) / 153;
        let day = from_march - (153 * month_from_march + 2) / 5 + 1;
        let month = ((month_from_march + 2) % 12) as usize;
        let year = era * 400 + year_of_era + i64::from(month < 2);
        Self {
            year,
            month,
            day,
            day_of_year: day + days_before(year, month),
            weekday,
            second_of_day,
        }
    }

    fn directive(&self, directive: Option<char>) -> Result<String, Error> {
        let hour = self.second_of_day / 3_600;
        Ok(match directive {
            Some('Y') => self.year.to_string(),
            Some('y') => format!("{:02}", self.year.rem_euclid(100)),
            Some('m') => format!("{:02}", self.month + 1),
            Some('B') => MONTHS[self.month].to_string(),
            Some('b') => MONTHS[self.month][..3].to_string(),
            Some('d') => format!("{:02}", self.day),
            Some('e') => format!("{:2}", self.day),
            Some('j') => format!("{:03}", self.day_of_year),
            Some('A') => DAYS[self.weekday].to_string(),
            Some('a') => DAYS[self.weekday][..3].to_string(),
            Some('H') => format!("{hour:02}"),
            Some('I') => format!("{:02}", (hour + 11) % 12 + 1),
            Some('p') => if hour < 12 { "AM" } else { "PM" }.to_string(),
            Some('M') => format!("{:02}", self.second_of_day / 60 % 60),
            Some('S') => format!("{:02}", self.second_of_day % 60),
            Some('%') => "%".to_string(),
            other => {
                let found = other.map_or("%".to_string(), |letter| format!("%{letter}"));
                let reason = format!(
                    "strftime_now: expected %a %A %b %B %d %e %H %I %j %m %M %p %S %y %Y or %%, found {found}"
                );
                return Err(Error::new(ErrorKind::InvalidOperation, reason));
            }
        })
    }
}

fn days_before(year: i64, month: usize) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let february = 28 + i64::from(leap);
    [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][..month]
        .iter()
        .sum()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(seconds: i64, format: &str) -> String {
        let distance = Duration::from_secs(seconds.unsigned_abs());
        let time = if seconds < 0 {
            UNIX_EPOCH - distance
        } else {
            UNIX_EPOCH + distance
        };
        strftime(time, format).unwrap()
    }

    #[test]
    fn known_moments_are_written_as_python_writes_them() {
        // Python: datetime.fromtimestamp(t, timezone.utc).strftime(f)
        let all = "%a %A %b %B %d %e %H %I %j %m %M %p %S %y %Y %%";
        assert_eq!(
            at(0, all),
            "Thu Thursday Jan January 01  1 00 12 001 01 00 AM 00 70 1970 %"
        );
        assert_eq!(
            at(951_782_399, all),
            "Mon Monday Feb February 28 28 23 11 059 02 59 PM 59 00 2000 %"
        );
        assert_eq!(
            at(951_782_400, all),
            "Tue Tuesday Feb February 29 29 00 12 060 02 00 AM 00 00 2000 %"
        );
        assert_eq!(
            at(4_102_444_799, all),
            "Thu Thursday Dec December 31 31 23 11 365 12 59 PM 59 99 2099 %"
        );
        assert_eq!(
            at(-1, all),
            "Wed Wednesday Dec December 31 31 23 11 365 12 59 PM 59 69 1969 %"
        );
    }

    #[test]
    fn an_unknown_directive_is_named() {
        let error = strftime(UNIX_EPOCH, "%Q").unwrap_err();
        assert!(error.to_string().contains("found %Q"), "{error}");
        assert!(strftime(UNIX_EPOCH, "50%").is_err());
    }
}
